/** The decisions of a Kubernetes node agent, and the ports they need; no I/O. */
export {};
