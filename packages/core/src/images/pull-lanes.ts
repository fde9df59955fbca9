import { NodeletError } from "../errors/index.ts";

/** First come, first served, at most `lanes` at once; undefined is no limit. */
export class PullLanes {
  readonly #lanes: number;
  readonly #inLane: string[] = [];
  readonly #queue: (() => void)[] = [];
  /** Lanes that are taken, the one that was just handed to the next in the queue included. */
  #taken = 0;

  constructor(lanes: number | undefined) {
    this.#lanes = lanes ?? Number.POSITIVE_INFINITY;
  }

  /** What a newcomer would wait for; empty when there is a free lane. */
  get waitsFor(): readonly string[] {
    return this.#taken < this.#lanes ? [] : [...this.#inLane];
  }

  /** Waits for a lane, runs `work` in it and gives it back. Rejects with `cancelled` when the signal fires while waiting. */
  async run<T>(options: { readonly name: string; readonly signal: AbortSignal }, work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#lanes) this.#taken += 1;
    else await this.#turn(options.signal);
    this.#inLane.push(options.name);
    try {
      return await work();
    } finally {
      this.#inLane.splice(this.#inLane.indexOf(options.name), 1);
      // The lane passes on without becoming free, so that no newcomer gets ahead of the queue.
      const next = this.#queue.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        const index = this.#queue.indexOf(admit);
        if (index === -1) return;
        this.#queue.splice(index, 1);
        reject(new NodeletError("cancelled", "waiting for an image pull was cancelled", { cause: signal.reason }));
      };
      this.#queue.push(admit);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }
}
