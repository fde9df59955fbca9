/** Cgroup management and statistics for @nodelet/core. */
export {};
