import { type Container, type EphemeralContainer, findContainer, isHostNetworkPod, type Pod } from "../../api/index.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { DecisionSink } from "../../decisions/decision.ts";
import { NodeletError } from "../../errors/nodelet-error.ts";
import type { HostNetworkFiles } from "../../ports/host-network.ts";
import type { Image } from "../../ports/image-service.ts";
import type { ObjectSource } from "../../ports/object-source.ts";
import type { PodFiles } from "../../ports/pod-files.ts";
import type { ContainerConfig, SandboxConfig } from "../../ports/runtime-types.ts";
import type { ContainerKind } from "../pod-plan.ts";
import {
  buildContainerConfig,
  buildSandboxConfig,
  containerLogPath,
  hostsFileContent,
  imageUser,
  type NodeContext,
  podLogDirectory,
  prefetchObjects,
} from "../requests/index.ts";

/** Where requests get their parts from. */
export interface RequestBuilderParts {
  readonly config: AgentConfig;
  readonly ports: {
    readonly hostNetwork: HostNetworkFiles;
    readonly objects: ObjectSource;
    readonly podFiles: PodFiles;
  };
  readonly decisions: DecisionSink;
  readonly node: () => NodeContext;
  /** What the runtime is told as the pod's cgroup parent. */
  readonly cgroupParent: (pod: Pod) => string;
}

/** What RunPodSandbox is told. */
export interface SandboxRequest {
  readonly config: SandboxConfig;
  readonly runtimeHandler: string;
}

/** A sandbox that a container is to be created in. */
export interface TargetSandbox {
  readonly id: string;
  readonly ips: readonly string[];
}

/** A container to be created, with all late inputs. */
export interface CreateRequest {
  readonly pod: Pod;
  readonly containerName: string;
  readonly kind: ContainerKind;
  readonly restartCount: number;
  readonly sandbox: TargetSandbox;
  readonly imageRef: string;
  readonly image: Image;
  readonly targetContainerId: string | undefined;
  readonly signal: AbortSignal;
}

/** Gathers what the pure request functions need (files of the host, objects, fresh paths) and calls them. */
export class RequestBuilder {
  readonly #parts: RequestBuilderParts;
  /** Pods, as of one update, whose decisions were told: trying again is no news of their configuration. */
  readonly #told = new WeakSet<Pod>();

  constructor(parts: RequestBuilderParts) {
    this.#parts = parts;
  }

  /** The container of that name; it stands in the spec, since the plan named it. */
  container(pod: Pod, name: string): Container | EphemeralContainer {
    const found = findContainer(pod, name);
    if (found === undefined) throw new NodeletError("internal", `the pod has no container ${name}`);
    return found.container;
  }

  /** The sandbox's configuration and runtime handler. Reads resolv.conf and the runtime class. */
  async sandbox(request: {
    readonly pod: Pod;
    readonly attempt: number;
    readonly signal: AbortSignal;
  }): Promise<SandboxRequest> {
    const { pod, attempt, signal } = request;
    const { config, ports, decisions } = this.#parts;
    const [runtimeHandler, hostResolvConf] = await Promise.all([
      this.#runtimeHandler(pod, signal),
      config.resolvConf === "" ? "" : ports.hostNetwork.readResolvConf({ path: config.resolvConf, signal }),
    ]);
    const built = buildSandboxConfig({
      pod,
      node: this.#parts.node(),
      runtimeHandler,
      attempt,
      cgroupParent: this.#parts.cgroupParent(pod),
      hostResolvConf,
    });
    if (!this.#told.has(pod)) for (const decision of built.decisions) decisions.record(decision);
    this.#told.add(pod);
    return { config: built.config, runtimeHandler };
  }

  /** Makes the directories of a container, for its files and for its logs. */
  async containerDirectories(request: {
    readonly pod: Pod;
    readonly containerName: string;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { pod, containerName, signal } = request;
    const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
    const ref = { podUid: uid, podName: name, podNamespace: namespace };
    await this.#parts.ports.podFiles.ensureContainer({ ...ref, containerName, signal });
  }

  /** What CreateContainer is told. Makes the container's hosts file and a fresh termination log; its directories must be there. */
  async createContainer(request: CreateRequest): Promise<ContainerConfig> {
    const { pod, containerName, sandbox, signal } = request;
    const { ports } = this.#parts;
    const container = this.container(pod, containerName);
    const node = this.#parts.node();
    const { objects, services } = await prefetchObjects({ pod, container, source: ports.objects, signal });
    const { uid = "" } = pod.metadata ?? {};
    const [etcHostsPath, terminationLogPath] = await Promise.all([
      this.#writeHosts({ pod, container, sandbox, signal }),
      (container.terminationMessagePath ?? "") === ""
        ? undefined
        : ports.podFiles.createTerminationLog({ podUid: uid, containerName, signal }),
    ]);
    return buildContainerConfig({
      pod,
      node,
      container,
      kind: request.kind,
      restartCount: request.restartCount,
      imageRef: request.imageRef,
      imageUser: imageUser(request.image),
      podIps: sandbox.ips,
      objects,
      services,
      ...(etcHostsPath !== undefined && { etcHostsPath }),
      ...(terminationLogPath !== undefined && { terminationLogPath }),
      ...(request.targetContainerId !== undefined && { targetContainerId: request.targetContainerId }),
    });
  }

  /** Absolute path of one attempt's log. */
  logPath(pod: Pod, attempt: { readonly containerName: string; readonly restartCount: number }): string {
    return `${podLogDirectory(this.#parts.config.podLogsDir, pod)}/${containerLogPath(attempt)}`;
  }

  /** The managed hosts file, unless the pod has no address yet or the container mounts its own. */
  async #writeHosts(request: {
    readonly pod: Pod;
    readonly container: Container | EphemeralContainer;
    readonly sandbox: TargetSandbox;
    readonly signal: AbortSignal;
  }): Promise<string | undefined> {
    const { pod, container, sandbox, signal } = request;
    const onHost = isHostNetworkPod(pod);
    if ((container.volumeMounts ?? []).some((mount) => mount.mountPath === "/etc/hosts")) return undefined;
    if (!onHost && sandbox.ips.length === 0) return undefined;
    const { hostNetwork, podFiles } = this.#parts.ports;
    const content = hostsFileContent({
      pod,
      podIps: sandbox.ips,
      nodeIps: this.#parts.node().machine.nodeIps,
      clusterDomain: this.#parts.config.clusterDomain,
      hostFile: onHost ? await hostNetwork.readHostsFile({ signal }) : "",
    });
    return podFiles.writeEtcHosts({ podUid: pod.metadata?.uid ?? "", content, signal });
  }

  async #runtimeHandler(pod: Pod, signal: AbortSignal): Promise<string> {
    const name = pod.spec?.runtimeClassName;
    if (name === undefined || name === "") return "";
    const found = await this.#parts.ports.objects.runtimeClass({ name, signal });
    if (found === undefined)
      throw new NodeletError("notFound", `failed to get sandbox runtime: no RuntimeClass "${name}"`);
    return found.handler;
  }
}
