import { type Clock, type ErrorKind, NodeletError } from "@nodelet/core";
import type { SeededRandom } from "../random/seeded-random.ts";

/** What goes wrong with one call. */
export type Fault =
  /** The call is not made; the error is the answer. */
  | { readonly kind: "error"; readonly error: ErrorKind; readonly message?: string }
  /** The call is made after a while. */
  | { readonly kind: "delay"; readonly delayMs: number | { readonly minMs: number; readonly maxMs: number } }
  /** The call is not made and not answered, until its signal fires (`cancelled`), the plan is cleared or `release` is called. */
  | { readonly kind: "hang" }
  /** The call is made, and its answer is lost: the client gets `unknownOutcome` in its place, or the error given. */
  | { readonly kind: "lostAnswer"; readonly error?: ErrorKind; readonly message?: string };

/** When a fault happens. All that is given must hold. */
export interface FaultRule {
  readonly fault: Fault;
  /** Method names; every method that answers with a promise when absent. */
  readonly calls?: readonly string[];
  /** Looks at the request. */
  readonly when?: (request: object) => boolean;
  /** How likely it happens to a call that matches; 1 when absent. */
  readonly probability?: number;
  /** Lets so many matching calls pass first. */
  readonly skip?: number;
  /** How often it happens at most; without end when absent. */
  readonly times?: number;
}

/** A fault that happened. */
export interface FaultRecord {
  readonly call: string;
  readonly fault: Fault;
  readonly atMs: number;
}

/** What a FaultPlan needs. */
export interface FaultPlanOptions {
  readonly clock: Clock;
  /** Decides probabilities and delays. */
  readonly random: SeededRandom;
  readonly rules?: readonly FaultRule[];
}

/**
 * Which calls go wrong and how: a list of rules, the first that matches decides. One plan may serve several ports. Rules can be added and
 * cleared while a test runs.
 */
export class FaultPlan {
  readonly clock: Clock;
  readonly #random: SeededRandom;
  readonly #records: FaultRecord[] = [];
  readonly #hanging = new Set<() => void>();
  #rules: { readonly rule: FaultRule; matched: number; happened: number }[] = [];

  constructor(options: FaultPlanOptions) {
    this.clock = options.clock;
    this.#random = options.random;
    for (const rule of options.rules ?? []) this.add(rule);
  }

  /** The faults that happened, in order. */
  get records(): readonly FaultRecord[] {
    return this.#records;
  }

  /** Calls that hang now. */
  get hanging(): number {
    return this.#hanging.size;
  }

  add(rule: FaultRule): void {
    this.#rules.push({ rule, matched: 0, happened: 0 });
  }

  /** Drops all rules and lets what hangs go on: from now on nothing goes wrong. */
  clear(): void {
    this.#rules = [];
    this.release();
  }

  /** Lets calls that hang go on; they are then made. */
  release(): void {
    const hanging = [...this.#hanging];
    this.#hanging.clear();
    for (const goOn of hanging) goOn();
  }

  /** The fault of a call, counted and recorded. */
  next(call: { readonly call: string; readonly request: object }): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (rule.calls !== undefined && !rule.calls.includes(call.call)) continue;
      if (rule.when !== undefined && !rule.when(call.request)) continue;
      entry.matched += 1;
      if (entry.matched <= (rule.skip ?? 0) || entry.happened >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (rule.probability !== undefined && !this.#random.chance(rule.probability)) continue;
      entry.happened += 1;
      this.#records.push({ call: call.call, fault: rule.fault, atMs: this.clock.nowMs() });
      return rule.fault;
    }
    return undefined;
  }

  /** Resolves after the fault's delay; rejects `cancelled` when the signal fires first. */
  delay(fault: Fault & { kind: "delay" }, signal: AbortSignal | undefined): Promise<void> {
    const { delayMs } = fault;
    const waitMs = typeof delayMs === "number" ? delayMs : this.#random.int({ min: delayMs.minMs, max: delayMs.maxMs });
    return waitCancellable(signal, (goOn) => {
      const timer = this.clock.setTimer(waitMs, goOn);
      return () => timer.cancel();
    });
  }

  /** Resolves at `release`; rejects `cancelled` when the signal fires first. */
  hang(signal: AbortSignal | undefined): Promise<void> {
    return waitCancellable(signal, (goOn) => {
      this.#hanging.add(goOn);
      return () => this.#hanging.delete(goOn);
    });
  }
}

/** Waits for `goOn`, or for the signal. */
function waitCancellable(signal: AbortSignal | undefined, start: (goOn: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => new NodeletError("cancelled", "the call was cancelled", { cause: signal?.reason });
    if (signal?.aborted) {
      reject(cancelled());
      return;
    }
    const onAbort = () => {
      stop();
      reject(cancelled());
    };
    const stop = start(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
