import { type Clock, NodeletError } from "@nodelet/core";
import type { SeededRandom } from "../random/seeded-random.ts";
import { Flight, type Operation } from "./flight.ts";
import { Hang, type HangOptions } from "./hang.ts";
import type { RuntimeCall } from "./runtime-call.ts";

/** How calls travel between client and daemon. */
export interface CallGateOptions {
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** How long the daemon takes for a call, in milliseconds; nothing when absent. */
  readonly latencyMs?: (call: RuntimeCall) => number;
  /** How long the client waits for an answer, beyond a stop's own timeout. */
  readonly requestTimeoutMs: number;
  /** How likely a call takes effect although its client gave it up or the daemon restarted under it. */
  readonly lateEffectProbability: number;
}

/** One call as the client makes it. */
export interface CallSpec {
  readonly call: RuntimeCall;
  readonly changes: boolean;
  /** Ids by which a hang finds it. */
  readonly keys: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Longest time that the daemon may take by request, for example a stop's grace; Infinity lifts the client's deadline. */
  readonly extraTimeMs?: number;
}

const DOWN =
  'connection error: desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"';

/** The way from client to daemon: latency, hangs, deadlines, cancellation, and a daemon that is not there. */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #hangs = new Set<Hang>();
  readonly #flights = new Set<Flight<unknown>>();
  readonly #streams = new Set<(error: NodeletError) => void>();
  #up = true;

  constructor(options: CallGateOptions) {
    this.#options = options;
  }

  get up(): boolean {
    return this.#up;
  }

  /** Calls that the daemon has not answered and whose clients still wait. */
  get waiting(): number {
    return this.#flights.size;
  }

  /** Lets matching calls hang from now on. */
  hang(options: HangOptions): Hang {
    const hang: Hang = new Hang({ ...options, onRelease: () => this.#hangs.delete(hang) });
    this.#hangs.add(hang);
    return hang;
  }

  /** The daemon is gone: calls under way break (some take effect all the same), streams end, new calls are refused. */
  goDown(): void {
    this.#up = false;
    for (const flight of [...this.#flights])
      flight.break(this.#options.random.chance(this.#options.lateEffectProbability));
    this.#flights.clear();
    const error = this.#refused();
    for (const end of [...this.#streams]) end(error);
    this.#streams.clear();
  }

  goUp(): void {
    this.#up = true;
  }

  /** Throws `unavailable` while the daemon is down. `onBreak` is called when it goes down; the answer forgets it. */
  openStream(onBreak: (error: NodeletError) => void): () => void {
    if (!this.#up) throw this.#refused();
    this.#streams.add(onBreak);
    return () => this.#streams.delete(onBreak);
  }

  /** Carries one call out. */
  async run<T>(spec: CallSpec, operation: Operation<T>): Promise<T> {
    const { call, signal } = spec;
    if (signal?.aborted) throw new NodeletError("cancelled", `${call} was cancelled`, { cause: signal.reason });
    if (!this.#up) throw this.#refused();
    const delayMs = this.#options.latencyMs?.(call) ?? 0;
    const hang = this.#hangs.size === 0 ? undefined : [...this.#hangs].find((candidate) => candidate.catches(spec));
    if (delayMs <= 0 && hang === undefined && spec.extraTimeMs === undefined) {
      operation.begin?.();
      await Promise.resolve();
      return operation.perform({ onAbandon: () => {} });
    }
    operation.begin?.();
    const flight = new Flight<T>({
      spec,
      operation,
      hang,
      delayMs,
      clock: this.#options.clock,
      deadlineMs: this.#deadlineMs(spec),
      decideLateEffect: () => this.#options.random.chance(this.#options.lateEffectProbability),
    });
    this.#flights.add(flight as Flight<unknown>);
    try {
      return await flight.answer;
    } finally {
      this.#flights.delete(flight as Flight<unknown>);
    }
  }

  /** A sandbox has twice the usual time, since the network plugin is part of it: so the kubelet and the CRI adapter do. */
  #deadlineMs(spec: CallSpec): number {
    const factor = spec.call === "runSandbox" ? 2 : 1;
    return factor * this.#options.requestTimeoutMs + (spec.extraTimeMs ?? 0);
  }

  #refused(): NodeletError {
    return new NodeletError("unavailable", DOWN);
  }
}
