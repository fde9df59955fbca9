/** The Linux machine, as the host ports of @nodelet/core. */
export {};
