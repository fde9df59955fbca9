/** A private containerd with CNI and small images, for npm start, the end-to-end tests and the benches. */
export {};
