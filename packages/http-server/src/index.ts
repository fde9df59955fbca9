/** The node's HTTP listeners and the local control socket for @nodelet/core. */
export { ControlClient } from "./control/control-client.ts";
export { ControlSocket } from "./control/control-socket.ts";
export type { HealthCheck, NodeletServerData } from "./data/server-data.ts";
export type { HttpListener, ListenAddress } from "./listeners/http-listener.ts";
export { createHealthListener, createReadOnlyListener } from "./listeners/listeners.ts";
