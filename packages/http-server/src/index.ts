/** The node's HTTP listeners and the local control socket for @nodelet/core. */
export {};
