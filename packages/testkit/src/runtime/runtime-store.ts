import type { Clock, ContainerEvent, ContainerEventType } from "@nodelet/core";
import type { SeededRandom } from "../random/seeded-random.ts";
import type { ContainerLife, ContainerRecord } from "./container-record.ts";
import type { ContainerdProfile } from "./containerd-profile.ts";
import { IpPool, type IpPoolOptions } from "./ip-pool.ts";
import { ReservedNames } from "./reserved-names.ts";
import type { RuntimeChange } from "./runtime-change.ts";
import type { SandboxRecord } from "./sandbox-record.ts";

/** What the runtime's daemon knows, which survives its restart. Every change of it is told to listeners at once. */
export class RuntimeStore {
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, ContainerRecord>();
  readonly sandboxNames: ReservedNames;
  readonly containerNames: ReservedNames;
  readonly profile: ContainerdProfile;
  readonly ips: IpPool;
  readonly #clock: Clock;
  readonly #random: SeededRandom;
  readonly #changeListeners = new Set<(change: RuntimeChange) => void>();
  readonly #eventListeners = new Set<(event: ContainerEvent) => void>();
  #lastStampNs = 0n;

  constructor(options: {
    readonly clock: Clock;
    readonly random: SeededRandom;
    readonly ips: IpPoolOptions;
    readonly profile: ContainerdProfile;
  }) {
    this.profile = options.profile;
    this.sandboxNames = new ReservedNames({ what: "sandbox", hint: "" });
    this.containerNames = new ReservedNames({ what: "container", hint: options.profile.reservedHint });
    this.#clock = options.clock;
    this.#random = options.random;
    this.ips = new IpPool(options.ips);
  }

  /** A fresh id: 64 hexadecimal digits. */
  newId(): string {
    return this.#random.hex(64);
  }

  /**
   * Wall time in nanoseconds, which goes back when the wall clock does, as a runtime's stamps do. No two stamps of one millisecond are equal, so
   * that creation times order what was made in it.
   */
  stampNs(): bigint {
    const nowNs = BigInt(Math.floor(this.#clock.nowMs() * 1_000)) * 1_000n;
    const isSameMoment = nowNs <= this.#lastStampNs && this.#lastStampNs - nowNs < 1_000_000n;
    this.#lastStampNs = isSameMoment ? this.#lastStampNs + 1n : nowNs;
    return this.#lastStampNs;
  }

  onChange(listener: (change: RuntimeChange) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  onEvent(listener: (event: ContainerEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  addSandbox(sandbox: SandboxRecord): void {
    this.sandboxes.set(sandbox.id, sandbox);
    this.#sandboxChanged(sandbox, { from: undefined, to: sandbox.state });
    this.#emit("CONTAINER_CREATED_EVENT", sandbox.id, sandbox.config.metadata.uid);
    this.#emit("CONTAINER_STARTED_EVENT", sandbox.id, sandbox.config.metadata.uid);
  }

  /** The sandbox becomes NOTREADY, and its addresses are free again. Does nothing the second time. */
  endSandbox(sandbox: SandboxRecord): void {
    if (sandbox.ipSlot !== undefined) this.ips.free(sandbox.ipSlot);
    sandbox.setNetwork({ slot: undefined, ips: [] });
    const from = sandbox.state;
    if (from === "SANDBOX_NOTREADY") return;
    sandbox.setState("SANDBOX_NOTREADY");
    this.#sandboxChanged(sandbox, { from, to: "SANDBOX_NOTREADY" });
    this.#emit("CONTAINER_STOPPED_EVENT", sandbox.id, sandbox.config.metadata.uid);
  }

  removeSandbox(sandbox: SandboxRecord): void {
    if (!this.sandboxes.delete(sandbox.id)) return;
    this.#sandboxChanged(sandbox, { from: sandbox.state, to: undefined });
    this.#emit("CONTAINER_DELETED_EVENT", sandbox.id, sandbox.config.metadata.uid);
  }

  addContainer(container: ContainerRecord): void {
    this.containers.set(container.id, container);
    this.sandboxes.get(container.sandboxId)?.containers.add(container.id);
    this.#containerChanged(container, { from: undefined, to: container.state });
    this.#emit("CONTAINER_CREATED_EVENT", container.id, container.sandboxConfig.metadata.uid);
  }

  /** Changes a container's life, and wakes those who wait for its exit when it became EXITED. */
  changeContainer(container: ContainerRecord, change: Partial<ContainerLife>): void {
    const from = container.state;
    container.change(change);
    const to = container.state;
    if (from === to) return;
    this.#containerChanged(container, { from, to });
    const podUid = container.sandboxConfig.metadata.uid;
    if (to === "CONTAINER_RUNNING") this.#emit("CONTAINER_STARTED_EVENT", container.id, podUid);
    if (to !== "CONTAINER_EXITED") return;
    if (from === "CONTAINER_RUNNING") this.#emit("CONTAINER_STOPPED_EVENT", container.id, podUid);
    const waiters = [...container.exitWaiters];
    container.exitWaiters.clear();
    for (const wake of waiters) wake();
  }

  removeContainer(container: ContainerRecord, options: { readonly silent: boolean } = { silent: false }): void {
    if (!this.containers.delete(container.id)) return;
    this.sandboxes.get(container.sandboxId)?.containers.delete(container.id);
    this.#containerChanged(container, { from: container.state, to: undefined });
    if (!options.silent) {
      this.#emit("CONTAINER_DELETED_EVENT", container.id, container.sandboxConfig.metadata.uid);
    }
  }

  #sandboxChanged(sandbox: SandboxRecord, edge: Pick<RuntimeChange & { kind: "sandbox" }, "from" | "to">): void {
    if (this.#changeListeners.size === 0) return;
    const { uid, attempt } = sandbox.config.metadata;
    this.#tell({ kind: "sandbox", sandboxId: sandbox.id, podUid: uid, attempt, ...edge, atMs: this.#clock.nowMs() });
  }

  #containerChanged(
    container: ContainerRecord,
    edge: Pick<RuntimeChange & { kind: "container" }, "from" | "to">,
  ): void {
    if (this.#changeListeners.size === 0) return;
    this.#tell({
      kind: "container",
      containerId: container.id,
      containerName: container.config.metadata.name,
      sandboxId: container.sandboxId,
      podUid: container.sandboxConfig.metadata.uid,
      attempt: container.config.metadata.attempt,
      ...edge,
      atMs: this.#clock.nowMs(),
    });
  }

  #tell(change: RuntimeChange): void {
    for (const listener of this.#changeListeners) listener(change);
  }

  #emit(type: ContainerEventType, containerId: string, podUid: string): void {
    if (this.#eventListeners.size === 0) return;
    const event: ContainerEvent = { containerId, type, createdAtNs: this.stampNs(), podUid };
    for (const listener of this.#eventListeners) listener(event);
  }
}
