/** The node agent as a program: nodelet, and the drop-in kubelet. */
export {};
