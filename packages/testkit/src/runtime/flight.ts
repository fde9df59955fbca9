import { type Clock, NodeletError, type Timer } from "@nodelet/core";
import type { CallSpec } from "./call-gate.ts";
import type { Hang } from "./hang.ts";

/** What the daemon does for one call. */
export interface Operation<T> {
  /** Checks and reserves at the moment that the call arrives; what it throws is the answer. */
  begin?(): void;
  /** Takes effect. An operation that waits ends its waiting when the client is gone. */
  perform(context: { readonly onAbandon: (callback: () => void) => void }): T | Promise<T>;
  /** Undoes `begin` for a call that will never take effect. */
  abandon?(): void;
}

/** A call under way: a client that waits for its answer, and a daemon that works on it whether or not somebody waits. */
export class Flight<T> {
  /** What the client gets. */
  readonly answer: Promise<T>;
  readonly #spec: CallSpec;
  readonly #operation: Operation<T>;
  readonly #hang: Hang | undefined;
  readonly #clock: Clock;
  readonly #decideLateEffect: () => boolean;
  readonly #abandonCallbacks: (() => void)[] = [];
  readonly #timers: Timer[] = [];
  #resolve: (value: T) => void = () => {};
  #reject: (error: NodeletError) => void = () => {};
  #forgetHang: (() => void) | undefined;
  #stage: "waiting" | "performing" | "over" = "waiting";
  #abandoned = false;

  constructor(options: {
    readonly spec: CallSpec;
    readonly operation: Operation<T>;
    readonly hang: Hang | undefined;
    readonly delayMs: number;
    readonly deadlineMs: number;
    readonly clock: Clock;
    readonly decideLateEffect: () => boolean;
  }) {
    this.#spec = options.spec;
    this.#operation = options.operation;
    this.#hang = options.hang;
    this.#clock = options.clock;
    this.#decideLateEffect = options.decideLateEffect;
    const { signal } = options.spec;
    const onAbort = () =>
      this.#giveUp(new NodeletError("cancelled", `${this.#spec.call} was cancelled`, { cause: signal?.reason }));
    const deadline = Number.isFinite(options.deadlineMs)
      ? this.#clock.setTimer(options.deadlineMs, () => this.#giveUp(this.#ranOut()))
      : undefined;
    signal?.addEventListener("abort", onAbort, { once: true });
    this.answer = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    }).finally(() => {
      deadline?.cancel();
      signal?.removeEventListener("abort", onAbort);
    });
    if (options.delayMs > 0) this.#later(options.delayMs, () => this.#afterLatency());
    else this.#afterLatency();
  }

  /** The daemon goes down in the middle of it. */
  break(takesEffect: boolean): void {
    const kind = this.#spec.changes ? "unknownOutcome" : "unavailable";
    this.#reject(new NodeletError(kind, "error reading from server: EOF"));
    this.#abandoned = true;
    for (const callback of this.#abandonCallbacks) callback();
    if (this.#stage !== "waiting") return;
    this.#stopWaiting();
    if (takesEffect && this.#spec.changes) void this.#perform();
    else this.#drop();
  }

  #afterLatency(): void {
    const hang = this.#hang;
    if (hang === undefined) {
      void this.#perform();
      return;
    }
    const goOn = () => {
      this.#stopWaiting();
      if (this.#abandoned && !hang.takesEffect) this.#drop();
      else void this.#perform();
    };
    this.#forgetHang = hang.wait(goOn);
    if (hang.forMs !== undefined) this.#later(hang.forMs, goOn);
  }

  /** The client stops waiting. Without a hang the daemon notices, and may or may not have been quick enough. */
  #giveUp(error: NodeletError): void {
    this.#abandoned = true;
    this.#reject(error);
    for (const callback of this.#abandonCallbacks) callback();
    if (this.#stage !== "waiting" || this.#hang !== undefined) return;
    if (this.#spec.changes && this.#decideLateEffect()) return;
    this.#stopWaiting();
    this.#drop();
  }

  async #perform(): Promise<void> {
    this.#stage = "performing";
    try {
      // Never in the same turn as the call, as no answer of a daemon is.
      await Promise.resolve();
      const onAbandon = (callback: () => void) => {
        if (this.#abandoned) callback();
        else this.#abandonCallbacks.push(callback);
      };
      this.#resolve(await this.#operation.perform({ onAbandon }));
    } catch (error) {
      this.#reject(NodeletError.from(error));
    } finally {
      this.#stage = "over";
    }
  }

  #drop(): void {
    this.#stage = "over";
    this.#operation.abandon?.();
  }

  #ranOut(): NodeletError {
    const kind = this.#spec.changes ? "unknownOutcome" : "deadline";
    return new NodeletError(kind, `${this.#spec.call}: context deadline exceeded`);
  }

  #later(delayMs: number, action: () => void): void {
    this.#timers.push(this.#clock.setTimer(delayMs, action));
  }

  #stopWaiting(): void {
    this.#forgetHang?.();
    for (const timer of this.#timers) timer.cancel();
  }
}
