import type { RuntimeCall } from "./runtime-call.ts";

/** Which calls hang, and for how long. */
export interface HangOptions {
  /** Calls by name; all when absent. */
  readonly calls?: readonly RuntimeCall[];
  /** Only calls about this sandbox id, container id, pod UID or image reference; all when absent. */
  readonly id?: string;
  /** How many calls it catches at most; without end when absent. */
  readonly times?: number;
  /** Each caught call goes on by itself after this time in the daemon; only at `release` when absent. */
  readonly forMs?: number;
  /**
   * Whether a call that its client gave up (deadline or cancellation) still takes effect when it goes on: the client was told
   * `unknownOutcome` and finds the result later. True when absent.
   */
  readonly takesEffect?: boolean;
}

/** Calls that the daemon does not answer, until `release`. */
export class Hang {
  readonly takesEffect: boolean;
  readonly forMs: number | undefined;
  readonly #options: HangOptions;
  readonly #onRelease: () => void;
  readonly #waiting = new Set<() => void>();
  #left: number;

  constructor(options: HangOptions & { readonly onRelease: () => void }) {
    this.#options = options;
    this.#onRelease = options.onRelease;
    this.#left = options.times ?? Number.POSITIVE_INFINITY;
    this.takesEffect = options.takesEffect ?? true;
    this.forMs = options.forMs;
  }

  /** Calls that hang now. */
  get caught(): number {
    return this.#waiting.size;
  }

  /** Takes the call, when it is one that hangs. */
  catches(call: { readonly call: RuntimeCall; readonly keys: readonly string[] }): boolean {
    const { calls, id } = this.#options;
    if (this.#left <= 0 || (calls !== undefined && !calls.includes(call.call))) return false;
    if (id !== undefined && !call.keys.includes(id)) return false;
    this.#left -= 1;
    return true;
  }

  /** Calls `goOn` when the hang is over; the answer forgets it again. */
  wait(goOn: () => void): () => void {
    this.#waiting.add(goOn);
    return () => this.#waiting.delete(goOn);
  }

  /** Catches nothing any more, and lets all that it caught go on. Idempotent. */
  release(): void {
    this.#left = 0;
    this.#onRelease();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const goOn of waiting) goOn();
  }
}
