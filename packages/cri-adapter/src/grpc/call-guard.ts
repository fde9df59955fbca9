import type { Clock, NodeletError, Timer } from "@nodelet/core";
import type { Connection } from "./connection.ts";
import { type CallContext, cancelledError, deadlineError } from "./status.ts";

/** What grpc-js calls have in common, as far as it matters here. */
interface Cancellable {
  cancel(): void;
}

/** What may end a call from our side. */
export interface CallGuardOptions {
  readonly context: CallContext;
  readonly connection: Connection;
  readonly clock: Clock;
  /** 0 for none. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Ends a call when its time is up, its signal fires or the connection is closed, and remembers that it was us. */
export class CallGuard {
  readonly #options: CallGuardOptions;
  readonly #onAbort: () => void;
  #ended: NodeletError | undefined;
  #call: Cancellable | undefined;
  #timer: Timer | undefined;
  #forgetClose: (() => void) | undefined;

  constructor(options: CallGuardOptions) {
    this.#options = options;
    this.#onAbort = () => this.#cancel(cancelledError({ ...options.context, reason: options.signal?.reason }));
  }

  /** Why we ended the call; undefined while we did not. */
  get ended(): NodeletError | undefined {
    return this.#ended;
  }

  /** Begins to watch over a call that was just made. */
  watch(call: Cancellable): void {
    const { context, connection, clock, timeoutMs, signal } = this.#options;
    this.#call = call;
    if (timeoutMs > 0) {
      this.#timer = clock.setTimer(timeoutMs, () => this.#cancel(deadlineError({ ...context, timeoutMs })));
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#forgetClose = connection.whenClosed((reason) => this.#cancel(reason));
  }

  /** The call is over. Idempotent. */
  end(): void {
    this.#timer?.cancel();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#forgetClose?.();
  }

  #cancel(reason: NodeletError): void {
    this.end();
    this.#ended ??= reason;
    this.#call?.cancel();
  }
}
