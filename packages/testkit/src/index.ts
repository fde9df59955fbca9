/** Contract suites, in-memory adapters, virtual clock and fault decorators for @nodelet/core. */
export {};
