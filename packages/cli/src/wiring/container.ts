import type { AgentConfig } from "@nodelet/core";
import { Container } from "inversify";
import type { StopSwitch } from "../run/stop-switch.ts";
import type { Settings } from "../settings/settings-table.ts";
import { cgroupsModule } from "./cgroups-module.ts";
import { coreModule } from "./core-module.ts";
import { hostModule } from "./host-module.ts";
import { httpModule } from "./http-module.ts";
import { ids } from "./identifiers.ts";
import { loggingModule } from "./logging-module.ts";
import { runtimeModule } from "./runtime-module.ts";

/** The whole program, unmade: each part is made when it is first asked for, once. One module an adapter. */
export function createContainer(values: {
  readonly settings: Settings;
  readonly config: AgentConfig;
  readonly stop: StopSwitch;
}): Container {
  const container = new Container();
  container.bind(ids.settings).toConstantValue(values.settings);
  container.bind(ids.config).toConstantValue(values.config);
  container.bind(ids.stop).toConstantValue(values.stop);
  container.load(loggingModule, hostModule, runtimeModule, cgroupsModule, coreModule, httpModule);
  return container;
}
