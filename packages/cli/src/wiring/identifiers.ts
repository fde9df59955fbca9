import type {
  Agent,
  AgentConfig,
  CgroupManager,
  Clock,
  ContainerLogs,
  DirectoryWatch,
  EventSink,
  HostNetworkFiles,
  HttpFetch,
  ImageService,
  Logger,
  Machine,
  ObjectSource,
  PodFiles,
  PodSource,
  PodStatusSink,
  Random,
  RuntimeService,
  StandalonePorts,
  StateStore,
} from "@nodelet/core";
import type { CriAdapter } from "@nodelet/cri-adapter";
import type { LogOutput } from "@nodelet/host-adapter";
import type { ControlSocket, HttpListener, NodeletServerData } from "@nodelet/http-server";
import type { ServiceIdentifier } from "inversify";
import type { StopSwitch } from "../run/stop-switch.ts";
import type { Settings } from "../settings/settings-table.ts";

function identifier<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}

/** What the container holds, by name and type. */
export const ids = {
  settings: identifier<Settings>("settings"),
  config: identifier<AgentConfig>("config"),
  stop: identifier<StopSwitch>("stop"),
  logOutput: identifier<LogOutput>("logOutput"),
  logger: identifier<Logger>("logger"),
  clock: identifier<Clock>("clock"),
  random: identifier<Random>("random"),
  criAdapter: identifier<CriAdapter>("criAdapter"),
  runtime: identifier<RuntimeService>("runtime"),
  images: identifier<ImageService>("images"),
  podFiles: identifier<PodFiles>("podFiles"),
  containerLogs: identifier<ContainerLogs>("containerLogs"),
  state: identifier<StateStore>("state"),
  hostNetwork: identifier<HostNetworkFiles>("hostNetwork"),
  machine: identifier<Machine>("machine"),
  directoryWatch: identifier<DirectoryWatch>("directoryWatch"),
  httpFetch: identifier<HttpFetch>("httpFetch"),
  cgroups: identifier<CgroupManager>("cgroups"),
  standalone: identifier<StandalonePorts>("standalone"),
  objects: identifier<ObjectSource>("objects"),
  events: identifier<EventSink>("events"),
  statusSink: identifier<PodStatusSink>("statusSink"),
  sources: identifier<readonly PodSource[]>("sources"),
  agent: identifier<Agent>("agent"),
  serverData: identifier<NodeletServerData>("serverData"),
  healthListener: identifier<HttpListener>("healthListener"),
  readOnlyListener: identifier<HttpListener>("readOnlyListener"),
  controlSocket: identifier<ControlSocket>("controlSocket"),
} as const;
