import type { Clock, Timer } from "../../ports/clock.ts";

/**
 * How long a plan waits for images that are being pulled: until somebody asks for it to be left, and all else that it can do is done. So what keeps
 * asking never keeps a plan from getting anywhere.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #asked: AbortSignal | undefined;
  readonly #over = new AbortController();
  readonly #onAsked = (): void => this.#look();
  /** Steps under way that do not merely wait. */
  #busy = 0;
  #timer: Timer | undefined;

  constructor(options: { readonly clock: Clock; readonly asked: AbortSignal | undefined }) {
    this.#clock = options.clock;
    this.#asked = options.asked;
    this.#asked?.addEventListener("abort", this.#onAsked, { once: true });
  }

  /** Fires when waits are to be left. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** A step begins. */
  begin(): void {
    this.#busy += 1;
  }

  /** A step ended. */
  end(): void {
    this.#busy -= 1;
    this.#look();
  }

  /** A step only waits from now on, until the answer is called. */
  wait(): () => void {
    this.end();
    return () => this.begin();
  }

  /** The plan has ended. */
  close(): void {
    this.#asked?.removeEventListener("abort", this.#onAsked);
    this.#timer?.cancel();
  }

  #look(): void {
    if (this.#busy > 0 || this.#asked?.aborted !== true || this.#timer !== undefined) return;
    // A step that ended may let others begin, which they do before any timer fires.
    this.#timer = this.#clock.setTimer(0, () => {
      this.#timer = undefined;
      if (this.#busy === 0) this.#over.abort();
    });
  }
}
