import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  type CallOptions,
  type ContainerConfig,
  type ContainerEvent,
  type ContainerEventType,
  type ContainerSummary,
  type CriContainerState,
  type CriContainerStatus,
  NodeletError,
  type RuntimeCapabilities,
  type RuntimeService,
  type RuntimeStatus,
  type RuntimeVersion,
  type SandboxConfig,
  type SandboxState,
  type SandboxStatus,
  type SandboxSummary,
  type StringMap,
  throwIfAborted,
} from "@nodelet/core";
import { nowNs } from "./now.ts";
import { ProcessContainer } from "./process-container.ts";
import type { ProcessImages } from "./process-images.ts";
import { ProcessSandbox } from "./process-sandbox.ts";

type SandboxCall = { readonly sandboxId: string } & CallOptions;
type ContainerCall = { readonly containerId: string } & CallOptions;

/**
 * A container runtime in one file set: a container is a process of this machine, a sandbox a name and a loopback address. It isolates nothing;
 * what it keeps is the contract of states, names, exit codes, logs and events that an agent relies on.
 */
export class ProcessRuntime implements RuntimeService {
  readonly #images: ProcessImages;
  readonly #sandboxes = new Map<string, ProcessSandbox>();
  readonly #containers = new Map<string, ProcessContainer>();
  readonly #watchers = new Set<(event: ContainerEvent) => void>();
  #addresses = 0;

  constructor(options: { readonly images: ProcessImages }) {
    this.#images = options.images;
  }

  async capabilities(): Promise<RuntimeCapabilities> {
    return { containerEvents: true, streamedLists: false, updatePodSandboxResources: false, metrics: false };
  }

  async version(): Promise<RuntimeVersion> {
    return { runtimeName: "process", runtimeVersion: "0.1.0", runtimeApiVersion: "v1" };
  }

  async status(): Promise<RuntimeStatus> {
    const condition = { status: true, reason: "", message: "" };
    return {
      conditions: [
        { type: "RuntimeReady", ...condition },
        { type: "NetworkReady", ...condition },
      ],
      handlers: [],
      supplementalGroupsPolicy: false,
      userNamespacesHostNetwork: false,
    };
  }

  async runSandbox(
    request: { readonly config: SandboxConfig; readonly runtimeHandler: string } & CallOptions,
  ): Promise<string> {
    throwIfAborted(request.signal, "running a sandbox");
    const { config, runtimeHandler } = request;
    if (runtimeHandler !== "") throw new NodeletError("invalid", `no runtime handler is called "${runtimeHandler}"`);
    const name = sandboxName(config);
    const holder = [...this.#sandboxes.values()].find((sandbox) => sandboxName(sandbox.config) === name);
    if (holder !== undefined) throw new NodeletError("alreadyExists", `name "${name}" is reserved for "${holder.id}"`);
    const sandbox = new ProcessSandbox({ id: newId(), config, address: this.#nextAddress() });
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#tell("CONTAINER_STARTED_EVENT", sandbox.id, config.metadata.uid);
    return sandbox.id;
  }

  async stopSandbox(request: SandboxCall): Promise<void> {
    throwIfAborted(request.signal, "stopping a sandbox");
    const sandbox = this.#sandboxes.get(request.sandboxId);
    if (sandbox === undefined) return;
    // First, so that nothing starts meanwhile.
    sandbox.stop();
    await Promise.all(this.#containersOf(sandbox.id).map((container) => container.kill()));
  }

  async removeSandbox(request: SandboxCall): Promise<void> {
    await this.stopSandbox(request);
    for (const container of this.#containersOf(request.sandboxId)) this.#forget(container);
    this.#sandboxes.delete(request.sandboxId);
  }

  async sandboxStatus(request: SandboxCall): Promise<SandboxStatus> {
    throwIfAborted(request.signal, "looking at a sandbox");
    return this.#sandbox(request.sandboxId).status();
  }

  async listSandboxes(
    request: { readonly id?: string; readonly state?: SandboxState; readonly labels?: StringMap } & CallOptions = {},
  ): Promise<readonly SandboxSummary[]> {
    throwIfAborted(request.signal, "listing sandboxes");
    return [...this.#sandboxes.values()].map((sandbox) => sandbox.status()).filter((row) => matches(row, request));
  }

  async createContainer(
    request: {
      readonly sandboxId: string;
      readonly config: ContainerConfig;
      readonly sandboxConfig: SandboxConfig;
    } & CallOptions,
  ): Promise<string> {
    throwIfAborted(request.signal, "creating a container");
    const { sandboxId, config } = request;
    const found = await this.#images.find(config.image.image);
    if (found === undefined) throw new NodeletError("notFound", `image ${config.image.image} is not there`);
    const sandbox = this.#sandbox(sandboxId);
    if (!sandbox.ready) throw new NodeletError("internal", `sandbox ${sandboxId} is not ready`);
    const name = containerName(config);
    const holder = this.#containersOf(sandboxId).find(({ parts }) => containerName(parts.config) === name);
    if (holder !== undefined)
      throw new NodeletError("alreadyExists", `name "${name}" is reserved for "${holder.parts.id}"`);
    const id = newId();
    const logPath = join(sandbox.config.logDirectory ?? "", config.logPath ?? "");
    const podUid = sandbox.config.metadata.uid;
    const onEnd = () => this.#tell("CONTAINER_STOPPED_EVENT", id, podUid);
    this.#containers.set(id, new ProcessContainer({ id, sandboxId, config, ...found, logPath, onEnd }));
    this.#tell("CONTAINER_CREATED_EVENT", id, podUid);
    return id;
  }

  async startContainer(request: ContainerCall): Promise<void> {
    throwIfAborted(request.signal, "starting a container");
    const container = this.#container(request.containerId);
    const sandbox = this.#sandbox(container.parts.sandboxId);
    if (!sandbox.ready) throw new NodeletError("internal", `sandbox ${sandbox.id} is not ready`);
    await container.start();
    this.#tell("CONTAINER_STARTED_EVENT", request.containerId, sandbox.config.metadata.uid);
  }

  async stopContainer(request: { readonly timeoutSeconds: number } & ContainerCall): Promise<void> {
    throwIfAborted(request.signal, "stopping a container");
    await this.#containers.get(request.containerId)?.stop(request);
  }

  async removeContainer(request: ContainerCall): Promise<void> {
    throwIfAborted(request.signal, "removing a container");
    const container = this.#containers.get(request.containerId);
    if (container === undefined) return;
    await container.kill();
    this.#forget(container);
  }

  async containerStatus(request: ContainerCall): Promise<CriContainerStatus> {
    throwIfAborted(request.signal, "looking at a container");
    return this.#container(request.containerId).status();
  }

  async listContainers(
    request: {
      readonly id?: string;
      readonly sandboxId?: string;
      readonly state?: CriContainerState;
      readonly labels?: StringMap;
    } & CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    throwIfAborted(request.signal, "listing containers");
    const { sandboxId } = request;
    return [...this.#containers.values()]
      .map((container) => ({ ...container.status(), sandboxId: container.parts.sandboxId }))
      .filter((row) => matches(row, request) && (sandboxId === undefined || row.sandboxId === sandboxId));
  }

  async watchContainerEvents(request: {
    readonly onEvent: (event: ContainerEvent) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { onEvent, signal } = request;
    if (signal.aborted) return;
    this.#watchers.add(onEvent);
    await new Promise((ended) => signal.addEventListener("abort", ended, { once: true }));
    this.#watchers.delete(onEvent);
  }

  #sandbox(id: string): ProcessSandbox {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) throw new NodeletError("notFound", `no sandbox ${id}`);
    return sandbox;
  }

  #container(id: string): ProcessContainer {
    const container = this.#containers.get(id);
    if (container === undefined) throw new NodeletError("notFound", `no container ${id}`);
    return container;
  }

  #containersOf(sandboxId: string): readonly ProcessContainer[] {
    return [...this.#containers.values()].filter(({ parts }) => parts.sandboxId === sandboxId);
  }

  #forget({ parts }: ProcessContainer): void {
    if (!this.#containers.delete(parts.id)) return;
    this.#tell("CONTAINER_DELETED_EVENT", parts.id, this.#sandboxes.get(parts.sandboxId)?.config.metadata.uid);
  }

  #tell(type: ContainerEventType, containerId: string, podUid: string | undefined): void {
    const event = { containerId, type, createdAtNs: nowNs(), ...(podUid !== undefined && { podUid }) };
    for (const onEvent of this.#watchers) onEvent(event);
  }

  /** Every address of 127.0.0.0/8 is this machine: each pod gets one that its programs can listen on. */
  #nextAddress(): string {
    this.#addresses = (this.#addresses % 65_534) + 1;
    return `127.88.${this.#addresses >> 8}.${this.#addresses & 255}`;
  }
}

function newId(): string {
  return randomBytes(32).toString("hex");
}

function sandboxName({ metadata: { name, namespace, uid, attempt } }: SandboxConfig): string {
  return `${name}_${namespace}_${uid}_${attempt}`;
}

function containerName({ metadata: { name, attempt } }: ContainerConfig): string {
  return `${name}_${attempt}`;
}

/** Every filter that is given holds. */
function matches(
  row: { readonly id: string; readonly state: string; readonly labels: StringMap },
  filter: { readonly id?: string; readonly state?: string; readonly labels?: StringMap },
): boolean {
  const { id = row.id, state = row.state, labels = {} } = filter;
  return (
    row.id === id && row.state === state && Object.entries(labels).every(([key, value]) => row.labels[key] === value)
  );
}
