import {
  CryptoRandom,
  FileStateStore,
  HostContainerLogs,
  HostNetwork,
  HostPodFiles,
  HttpFetcher,
  InotifyDirectoryWatch,
  LinuxMachine,
  SystemClock,
} from "@nodelet/host-adapter";
import { ContainerModule } from "inversify";
import { ids } from "./identifiers.ts";

/** The machine: files, logs, state, network files, facts, clocks. */
export const hostModule = new ContainerModule(({ bind }) => {
  bind(ids.clock)
    .toDynamicValue(() => new SystemClock())
    .inSingletonScope();
  bind(ids.random)
    .toDynamicValue(() => new CryptoRandom())
    .inSingletonScope();
  bind(ids.podFiles)
    .toResolvedValue(({ rootDir, podLogsDir }) => new HostPodFiles({ rootDir, podLogsDir }), [ids.settings])
    .inSingletonScope();
  bind(ids.containerLogs)
    .toResolvedValue(
      ({ podLogsDir, containerLinksDir }) => new HostContainerLogs({ podLogsDir, containerLinksDir }),
      [ids.settings],
    )
    .inSingletonScope();
  bind(ids.state)
    .toResolvedValue(
      ({ rootDir }, clock) => new FileStateStore({ directory: rootDir, clock }),
      [ids.settings, ids.clock],
    )
    .inSingletonScope();
  bind(ids.hostNetwork)
    .toDynamicValue(() => new HostNetwork())
    .inSingletonScope();
  bind(ids.machine)
    .toResolvedValue(
      ({ nodeIp }, { nodeName }) => new LinuxMachine({ nodeName, nodeIps: nodeIp }),
      [ids.settings, ids.config],
    )
    .inSingletonScope();
  bind(ids.directoryWatch)
    .toDynamicValue(() => new InotifyDirectoryWatch())
    .inSingletonScope();
  bind(ids.httpFetch)
    .toDynamicValue(() => new HttpFetcher())
    .inSingletonScope();
});
