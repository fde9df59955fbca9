import {
  type CallOptions,
  type ContainerConfig,
  type ContainerEvent,
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
} from "@nodelet/core";
import {
  type ContainerReservation,
  containerToStart,
  makeContainer,
  releaseContainer,
  reserveContainer,
  startContainer,
} from "./container-operations.ts";
import { discardOutput } from "./container-output.ts";
import { defaultProgram } from "./default-program.ts";
import { streamEvents } from "./event-stream.ts";
import type { Operation } from "./flight.ts";
import type { ProcessInfo, ProcessPlan } from "./program.ts";
import type { RuntimeCall } from "./runtime-call.ts";
import { RuntimeControl } from "./runtime-control.ts";
import type { InMemoryRuntimeOptions } from "./runtime-options.ts";
import {
  makeSandbox,
  removeSandbox,
  reserveSandbox,
  type SandboxReservation,
  stopSandbox,
} from "./sandbox-operations.ts";
import { stopContainer } from "./stop-container.ts";

/**
 * A container runtime in memory that behaves as containerd does: names stay reserved while an object or a call for it lives, sandboxes and
 * containers have containerd's states, exit codes, reasons and error texts, and stopping takes the time that the process takes. Processes
 * follow programs instead of running.
 *
 * Tests also hold the other side of it: they let the daemon restart, the machine reboot, objects vanish, processes end, and calls hang. All
 * time comes from the clock and all chance from the seed.
 */
export class InMemoryRuntime extends RuntimeControl implements RuntimeService {
  readonly #options: InMemoryRuntimeOptions;
  readonly #moreHandlers: readonly string[];

  constructor(options: InMemoryRuntimeOptions) {
    super(options);
    this.#options = options;
    this.#moreHandlers = options.runtimeHandlers ?? [];
  }

  async capabilities(options: CallOptions = {}): Promise<RuntimeCapabilities> {
    const { containerEvents, cgroupDriver } = this.store.profile;
    return this.#read("capabilities", [], options, () => ({
      containerEvents,
      streamedLists: false,
      ...(cgroupDriver === undefined ? {} : { cgroupDriver }),
      updatePodSandboxResources: false,
      metrics: false,
      ...this.#options.capabilities,
    }));
  }

  async version(options: CallOptions = {}): Promise<RuntimeVersion> {
    const { runtimeVersion } = this.store.profile;
    return this.#read("version", [], options, () => ({
      runtimeName: "containerd",
      runtimeVersion,
      runtimeApiVersion: "v1",
    }));
  }

  async status(options: CallOptions = {}): Promise<RuntimeStatus> {
    const { handlers, supplementalGroupsPolicy } = this.store.profile;
    return this.#read("status", [], options, () => ({
      conditions: [...this.conditions.values()],
      handlers: [
        ...handlers,
        ...this.#moreHandlers.map((name) => ({ name, recursiveReadOnlyMounts: true, userNamespaces: false })),
      ],
      supplementalGroupsPolicy,
      userNamespacesHostNetwork: false,
    }));
  }

  async runSandbox(
    request: { readonly config: SandboxConfig; readonly runtimeHandler: string } & CallOptions,
  ): Promise<string> {
    const { config, runtimeHandler } = request;
    let reservation: SandboxReservation | undefined;
    return this.#change({ call: "runSandbox", keys: [config.metadata.uid] }, request, {
      begin: () => {
        reservation = reserveSandbox(this.store, config);
        this.#requireHandler(runtimeHandler, reservation);
      },
      perform: () => makeSandbox(this.store, { reservation: made(reservation), config, runtimeHandler }),
      abandon: () => this.store.sandboxNames.release(made(reservation).name),
    });
  }

  async stopSandbox(request: { readonly sandboxId: string } & CallOptions): Promise<void> {
    return this.#change({ call: "stopSandbox", keys: this.#keysOfSandbox(request.sandboxId) }, request, {
      perform: () => stopSandbox(this.store, request.sandboxId),
    });
  }

  async removeSandbox(request: { readonly sandboxId: string } & CallOptions): Promise<void> {
    return this.#change({ call: "removeSandbox", keys: this.#keysOfSandbox(request.sandboxId) }, request, {
      perform: () => removeSandbox(this.store, request.sandboxId),
    });
  }

  async sandboxStatus(request: { readonly sandboxId: string } & CallOptions): Promise<SandboxStatus> {
    return this.#read("sandboxStatus", this.#keysOfSandbox(request.sandboxId), request, () => {
      const sandbox = this.store.sandboxes.get(request.sandboxId);
      if (sandbox === undefined) {
        throw new NodeletError("notFound", "an error occurred when try to find sandbox: not found");
      }
      return sandbox.status();
    });
  }

  async listSandboxes(
    request: { readonly id?: string; readonly state?: SandboxState; readonly labels?: StringMap } & CallOptions = {},
  ): Promise<readonly SandboxSummary[]> {
    return this.#read("listSandboxes", [], request, () => {
      const rows = [...this.store.sandboxes.values()].map((sandbox) => sandbox.summary());
      return rows.filter((row) => matches(row, request));
    });
  }

  async createContainer(
    request: {
      readonly sandboxId: string;
      readonly config: ContainerConfig;
      readonly sandboxConfig: SandboxConfig;
    } & CallOptions,
  ): Promise<string> {
    let reservation: ContainerReservation | undefined;
    const keys = [request.config.image.image, ...this.#keysOfSandbox(request.sandboxId)];
    return this.#change({ call: "createContainer", keys }, request, {
      begin: () => {
        reservation = reserveContainer(this.store, request);
      },
      perform: () => {
        const image = this.images.resolve(request.config.image.image);
        return makeContainer(this.store, { reservation: made(reservation), request, image });
      },
      abandon: () => this.store.containerNames.release(made(reservation).name),
    });
  }

  async startContainer(request: { readonly containerId: string } & CallOptions): Promise<void> {
    const { containerId } = request;
    const setStarting = (starting: boolean) => {
      const container = this.store.containers.get(containerId);
      if (container !== undefined) container.starting = starting;
    };
    return this.#change({ call: "startContainer", keys: this.#keysOfContainer(containerId) }, request, {
      begin: () => {
        containerToStart(this.store, containerId).starting = true;
      },
      perform: () => {
        setStarting(false);
        startContainer(this.store, containerId, {
          clock: this.clock,
          output: this.#options.output ?? discardOutput,
          program: (process) => this.#plan(process),
        });
      },
      abandon: () => setStarting(false),
    });
  }

  async stopContainer(
    request: { readonly containerId: string; readonly timeoutSeconds: number } & CallOptions,
  ): Promise<void> {
    const { containerId, timeoutSeconds } = request;
    const timeoutMs = timeoutSeconds * 1_000;
    const operation: Operation<void> = {
      perform: ({ onAbandon }) => stopContainer(this.store, { containerId, timeoutMs, clock: this.clock, onAbandon }),
    };
    const keys = this.#keysOfContainer(containerId);
    return this.#change({ call: "stopContainer", keys, extraTimeMs: timeoutMs }, request, operation);
  }

  async removeContainer(request: { readonly containerId: string } & CallOptions): Promise<void> {
    const { containerId } = request;
    return this.#change({ call: "removeContainer", keys: this.#keysOfContainer(containerId) }, request, {
      perform: () => {
        const container = this.store.containers.get(containerId);
        if (container === undefined) return;
        if (container.starting) {
          const why = "container is in starting state, can't be removed";
          throw new NodeletError("internal", `failed to set removing state for container "${containerId}": ${why}`);
        }
        releaseContainer(this.store, container);
      },
    });
  }

  async containerStatus(request: { readonly containerId: string } & CallOptions): Promise<CriContainerStatus> {
    const { containerId } = request;
    return this.#read("containerStatus", this.#keysOfContainer(containerId), request, () => {
      const container = this.store.containers.get(containerId);
      if (container === undefined) {
        throw new NodeletError("notFound", `an error occurred when try to find container "${containerId}": not found`);
      }
      return container.status({ tellsUser: this.store.profile.tellsUser });
    });
  }

  async listContainers(
    request: {
      readonly id?: string;
      readonly sandboxId?: string;
      readonly state?: CriContainerState;
      readonly labels?: StringMap;
    } & CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    return this.#read("listContainers", [], request, () => {
      const rows = [...this.store.containers.values()].map((container) => container.summary());
      const { sandboxId } = request;
      return rows.filter((row) => (sandboxId === undefined || row.sandboxId === sandboxId) && matches(row, request));
    });
  }

  async watchContainerEvents(request: {
    readonly onEvent: (event: ContainerEvent) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    if (!(await this.capabilities()).containerEvents) {
      throw new NodeletError("unsupported", "unknown method GetContainerEvents for service runtime.v1.RuntimeService");
    }
    return streamEvents({ store: this.store, gate: this.gate }, request);
  }

  #requireHandler(name: string, reservation: SandboxReservation): void {
    if (["", "runc", ...this.#moreHandlers].includes(name)) return;
    this.store.sandboxNames.release(reservation.name);
    const prefix = this.store.profile.unknownHandlerPrefix(reservation.id);
    throw new NodeletError("internal", `${prefix}: no runtime for "${name}" is configured`);
  }

  #plan(process: ProcessInfo): ProcessPlan {
    for (const program of this.programs) {
      const plan = program(process);
      if (plan !== undefined) return plan;
    }
    return defaultProgram(process);
  }

  async #read<T>(call: RuntimeCall, keys: readonly string[], options: CallOptions, perform: () => T): Promise<T> {
    return this.gate.run({ call, changes: false, keys, signal: options.signal }, { perform });
  }

  async #change<T>(
    spec: { readonly call: RuntimeCall; readonly keys: readonly string[]; readonly extraTimeMs?: number },
    request: CallOptions & object,
    operation: Operation<T>,
  ): Promise<T> {
    const entry = this.journal.begin({ call: spec.call, request, atMs: this.clock.nowMs() });
    return this.journal.follow(entry, this.gate.run({ ...spec, changes: true, signal: request.signal }, operation));
  }

  #keysOfSandbox(sandboxId: string): readonly string[] {
    const uid = this.store.sandboxes.get(sandboxId)?.config.metadata.uid;
    return uid === undefined ? [sandboxId] : [sandboxId, uid];
  }

  #keysOfContainer(containerId: string): readonly string[] {
    const container = this.store.containers.get(containerId);
    return container === undefined ? [containerId] : [containerId, ...this.#keysOfSandbox(container.sandboxId)];
  }
}

function made<T>(reservation: T | undefined): T {
  if (reservation === undefined) throw new NodeletError("internal", "the call took effect before it arrived");
  return reservation;
}

/** Whether a row has every filter's value; an id may be given by its beginning, as containerd allows. */
function matches(
  row: { readonly id: string; readonly state: string; readonly labels: StringMap },
  filter: { readonly id?: string; readonly state?: string; readonly labels?: StringMap },
): boolean {
  if (filter.id !== undefined && filter.id !== "" && !row.id.startsWith(filter.id)) return false;
  if (filter.state !== undefined && row.state !== filter.state) return false;
  for (const [key, value] of Object.entries(filter.labels ?? {})) {
    if (row.labels[key] !== value) return false;
  }
  return true;
}
