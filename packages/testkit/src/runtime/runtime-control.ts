import type { Clock, CriContainerStatus, RuntimeCondition, SandboxStatus } from "@nodelet/core";
import { InMemoryImages } from "../images/in-memory-images.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { CallGate } from "./call-gate.ts";
import { CallJournal } from "./call-journal.ts";
import { loseProcess, releaseContainer } from "./container-operations.ts";
import { containerdProfile } from "./containerd-profile.ts";
import type { Hang, HangOptions } from "./hang.ts";
import type { Program } from "./program.ts";
import type { RecordedCall } from "./runtime-call.ts";
import type { RuntimeChange } from "./runtime-change.ts";
import type { InMemoryRuntimeOptions } from "./runtime-options.ts";
import { RuntimeStore } from "./runtime-store.ts";
import { removeSandbox } from "./sandbox-operations.ts";

/** A container as tests see it, with what its status leaves out. */
export interface ContainerView extends CriContainerStatus {
  readonly sandboxId: string;
  readonly podUid: string;
}

/** The test's side of an in-memory runtime: what it looks at without a call, and what it does behind the client's back. */
export class RuntimeControl {
  readonly images: InMemoryImages;
  protected readonly clock: Clock;
  protected readonly store: RuntimeStore;
  protected readonly gate: CallGate;
  protected readonly journal = new CallJournal();
  protected readonly programs: Program[];
  protected readonly conditions = new Map<string, RuntimeCondition>();

  constructor(options: InMemoryRuntimeOptions) {
    const random = options.random ?? new SeededRandom();
    this.clock = options.clock;
    this.images = options.images ?? new InMemoryImages({ clock: options.clock, random: random.fork("images") });
    this.store = new RuntimeStore({
      clock: options.clock,
      random: random.fork("ids"),
      ips: options.ips ?? {},
      profile: containerdProfile(options.likeContainerd ?? "2.1"),
    });
    this.gate = new CallGate({
      clock: options.clock,
      random: random.fork("calls"),
      ...(options.latencyMs === undefined ? {} : { latencyMs: options.latencyMs }),
      requestTimeoutMs: options.requestTimeoutMs ?? 120_000,
      lateEffectProbability: options.lateEffectProbability ?? 0.5,
    });
    this.programs = [...(options.programs ?? [])];
    for (const type of ["RuntimeReady", "NetworkReady"])
      this.setCondition({ type, status: true, reason: "", message: "" });
  }

  /** The last calls that change something, in the order in which they were made. */
  get calls(): readonly RecordedCall[] {
    return this.journal.calls;
  }

  /** Forgets the calls so far. */
  clearCalls(): void {
    this.journal.clear();
  }

  /** All sandboxes, read without a call. */
  sandboxes(): readonly SandboxStatus[] {
    return [...this.store.sandboxes.values()].map((sandbox) => sandbox.status());
  }

  /** All containers, read without a call. */
  containers(): readonly ContainerView[] {
    return [...this.store.containers.values()].map((container) => ({
      ...container.status({ tellsUser: true }),
      sandboxId: container.sandboxId,
      podUid: container.sandboxConfig.metadata.uid,
    }));
  }

  /** The containers that run. */
  running(): readonly ContainerView[] {
    return this.containers().filter((container) => container.state === "CONTAINER_RUNNING");
  }

  /** Addresses that sandboxes hold: 0 when nothing leaked. */
  get ipsTaken(): number {
    return this.store.ips.taken;
  }

  /** Tells every change at the moment it takes effect; the answer ends it. */
  onChange(listener: (change: RuntimeChange) => void): () => void {
    return this.store.onChange(listener);
  }

  /** Puts a program before the others. */
  addProgram(program: Program): void {
    this.programs.unshift(program);
  }

  /** Sets a condition of the runtime's status, for example NetworkReady false. */
  setCondition(condition: RuntimeCondition): void {
    this.conditions.set(condition.type, condition);
  }

  /** Lets matching calls hang until released; image calls have their own `images.hang`. */
  hang(options: HangOptions = {}): Hang {
    return this.gate.hang(options);
  }

  /** Ends a container's process now, as if by itself. */
  endContainer(request: { readonly containerId: string; readonly exitCode: number; readonly reason?: string }): void {
    const { containerId, exitCode, reason = "" } = request;
    this.store.containers.get(containerId)?.process?.end({ exitCode, reason, orderly: true });
  }

  /** The kernel kills the container for its memory: exit code 137, reason OOMKilled. */
  oomKill(containerId: string): void {
    this.store.containers.get(containerId)?.process?.end({ exitCode: 137, reason: "OOMKilled", orderly: false });
  }

  /** The sandbox's own process dies: NOTREADY, while its containers run on. */
  endSandbox(sandboxId: string): void {
    const sandbox = this.store.sandboxes.get(sandboxId);
    if (sandbox !== undefined) this.store.endSandbox(sandbox);
  }

  /** Somebody else removes a container or a sandbox, by its id; without events when `silent`. */
  removeBehind(request: { readonly id: string; readonly silent?: boolean }): void {
    const container = this.store.containers.get(request.id);
    if (container !== undefined) releaseContainer(this.store, container, { silent: request.silent ?? false });
    else removeSandbox(this.store, request.id);
  }

  /** The daemon stops: calls under way break, new ones are `unavailable`. Containers run on. */
  stopDaemon(): void {
    this.gate.goDown();
    this.images.setDaemonUp(false);
  }

  /** The daemon runs again and knows what it knew, and what ended meanwhile. */
  startDaemon(): void {
    this.gate.goUp();
    this.images.setDaemonUp(true);
  }

  /** Stops the daemon, and starts it again after `downMs`. */
  restartDaemon(options: { readonly downMs: number }): void {
    this.stopDaemon();
    this.clock.setTimer(options.downMs, () => this.startDaemon());
  }

  /**
   * The machine loses power and comes up again: calls under way break, every sandbox is NOTREADY and has no addresses, what ran is EXITED
   * with exit code 255 and reason Unknown.
   */
  reboot(): void {
    this.stopDaemon();
    for (const container of this.store.containers.values()) loseProcess(this.store, container);
    for (const sandbox of this.store.sandboxes.values()) this.store.endSandbox(sandbox);
    this.startDaemon();
  }
}
