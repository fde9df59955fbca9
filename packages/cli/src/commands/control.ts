import { join } from "node:path";
import { ControlClient } from "@nodelet/http-server";

/** The control socket's name in the root directory. */
export const CONTROL_SOCKET = "nodelet.sock";

/** A client of the agent that runs with this root directory. */
export function controlClient(options: { readonly rootDir: string }): ControlClient {
  return new ControlClient({ socketPath: join(options.rootDir, CONTROL_SOCKET) });
}
