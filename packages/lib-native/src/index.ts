/** System calls that Node.js lacks, with what was found shown as capabilities. */
export {};
