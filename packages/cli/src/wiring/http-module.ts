import { join } from "node:path";
import { ControlSocket, createHealthListener, createReadOnlyListener } from "@nodelet/http-server";
import { ContainerModule } from "inversify";
import { CONTROL_SOCKET } from "../commands/control.ts";
import { ids } from "./identifiers.ts";
import { serverData } from "./server-data.ts";

/** The listeners: health, read-only, and the control socket. */
export const httpModule = new ContainerModule(({ bind }) => {
  bind(ids.serverData)
    .toResolvedValue(
      (agent, settings, stop) => serverData({ agent, settings, stop }),
      [ids.agent, ids.settings, ids.stop],
    )
    .inSingletonScope();
  bind(ids.healthListener)
    .toResolvedValue((logger) => createHealthListener({ logger }), [ids.logger])
    .inSingletonScope();
  bind(ids.readOnlyListener)
    .toResolvedValue((data, logger) => createReadOnlyListener({ data, logger }), [ids.serverData, ids.logger])
    .inSingletonScope();
  bind(ids.controlSocket)
    .toResolvedValue(
      ({ rootDir }, data, logger) => new ControlSocket({ path: join(rootDir, CONTROL_SOCKET), data, logger }),
      [ids.settings, ids.serverData, ids.logger],
    )
    .inSingletonScope();
});
