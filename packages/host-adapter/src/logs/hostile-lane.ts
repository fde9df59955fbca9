import { NodeletError } from "@nodelet/core";

/** What one run in a lane is told. */
export interface LaneCall {
  readonly what: string;
  readonly timeoutMs: number;
  /** The work changes something: an overrun has an unknown outcome instead of having run out of time. */
  readonly changes: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs file system work on paths that may hang (a log directory on a dead network file system), a few at a time. Node.js has four threads for
 * all file system calls and none of them can be taken back from a hanging one, so a lane never occupies more than its width, whatever hangs;
 * who waits or works too long is told so. A run that overran keeps its place until it comes back.
 */
export class HostileLane {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #active = 0;

  constructor(options: { readonly width: number }) {
    this.#width = options.width;
  }

  /** Throws `deadline` (or `unknownOutcome`) after `timeoutMs`, waiting included, and `cancelled` when the signal fires. */
  async run<T>(call: LaneCall, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let started = false;
      const giveUp = (error: NodeletError) => {
        const place = this.#waiting.indexOf(start);
        if (place >= 0) this.#waiting.splice(place, 1);
        cleanUp();
        reject(error);
      };
      const timer = setTimeout(() => {
        const kind = started && call.changes ? "unknownOutcome" : "deadline";
        const doing = started ? "took" : "waited for others for";
        giveUp(new NodeletError(kind, `${call.what}: ${doing} more than ${call.timeoutMs} ms`));
      }, call.timeoutMs);
      const onAbort = () => giveUp(new NodeletError("cancelled", `${call.what}: was cancelled`));
      const cleanUp = () => {
        clearTimeout(timer);
        call.signal?.removeEventListener("abort", onAbort);
      };
      const start = () => {
        started = true;
        this.#active += 1;
        const leave = () => {
          cleanUp();
          this.#active -= 1;
          this.#waiting.shift()?.();
        };
        work().then(resolve, reject).finally(leave);
      };
      if (call.signal?.aborted) return onAbort();
      call.signal?.addEventListener("abort", onAbort, { once: true });
      if (this.#active < this.#width) start();
      else this.#waiting.push(start);
    });
  }
}
