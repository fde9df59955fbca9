import { NodeletError } from "../errors/index.ts";
import type { Clock } from "../ports/clock.ts";

/** Reason of the `cancelled` error for somebody who stopped waiting: the pull itself goes on. */
export const PULL_GOES_ON = "PullGoesOn";

/** How long the outcome of a pull that nobody waited for counts: a container that comes for it later asks the registry anew. */
const OUTCOME_COUNTS_MS = 60_000;

/** The container that an image is pulled for. */
export interface PullFor {
  readonly podUid: string;
  readonly containerName: string;
  /** Equal texts ask for the same: image, policy and handler. */
  readonly what: string;
}

interface Ongoing<T> {
  readonly what: string;
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
  /** Monotonic; undefined while it goes on. */
  endedAtMs: number | undefined;
}

/**
 * Pulls that outlast the wait for them. A pod's work goes on while one of its images is pulled for as long as it takes: whoever stops waiting
 * comes back later and finds the same pull, or its outcome. A pull ends with the pod, with the agent, and when its container wants another image.
 */
export class OngoingPulls<T> {
  readonly #clock: Clock;
  readonly #onEnd: (podUid: string) => void;
  readonly #byContainer = new Map<string, Ongoing<T>>();

  constructor(options: {
    readonly clock: Clock;
    /** Told when a pull ended for which nobody waited: its outcome should be fetched. */
    readonly onEnd: (podUid: string) => void;
  }) {
    this.#clock = options.clock;
    this.#onEnd = options.onEnd;
  }

  /** How many are held. */
  get size(): number {
    return this.#byContainer.size;
  }

  /** The pull that goes on for the container, or whose outcome waits; one for something else is given up. */
  find(request: PullFor): Ongoing<T> | undefined {
    const found = this.#byContainer.get(keyOf(request));
    if (found === undefined) return undefined;
    const ageMs = found.endedAtMs === undefined ? 0 : this.#clock.monotonicMs() - found.endedAtMs;
    if (found.what === request.what && ageMs <= OUTCOME_COUNTS_MS) return found;
    this.#giveUp(keyOf(request), found);
    return undefined;
  }

  /** Begins one. Its signal fires with that of the request, and when it is given up. */
  begin(
    request: PullFor & { readonly signal: AbortSignal | undefined },
    pull: (signal: AbortSignal) => Promise<T>,
  ): Ongoing<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const outcome = pull(request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]));
    const ongoing: Ongoing<T> = { what: request.what, outcome, controller, waiters: 0, endedAtMs: undefined };
    this.#byContainer.set(keyOf(request), ongoing);
    const end = (): void => {
      ongoing.endedAtMs = this.#clock.monotonicMs();
      if (this.#byContainer.get(keyOf(request)) !== ongoing) return;
      const isOver = signal.aborted || request.signal?.aborted === true;
      if (isOver || ongoing.waiters > 0) this.#byContainer.delete(keyOf(request));
      else this.#onEnd(request.podUid);
    };
    outcome.then(end, end);
    return ongoing;
  }

  /** The outcome, or `cancelled` with the reason PullGoesOn at the instant `leave` fires. */
  async wait(request: PullFor, options: { readonly ongoing: Ongoing<T>; readonly leave?: AbortSignal }): Promise<T> {
    const { ongoing, leave } = options;
    if (ongoing.endedAtMs !== undefined) {
      this.#byContainer.delete(keyOf(request));
      return ongoing.outcome;
    }
    ongoing.waiters += 1;
    try {
      return await (leave === undefined ? ongoing.outcome : orLeave(ongoing.outcome, leave));
    } finally {
      ongoing.waiters -= 1;
    }
  }

  /** Gives up what goes on for a pod that is gone. */
  forget(podUid: string): void {
    for (const [key, ongoing] of this.#byContainer) if (key.startsWith(`${podUid}/`)) this.#giveUp(key, ongoing);
  }

  #giveUp(key: string, ongoing: Ongoing<T>): void {
    this.#byContainer.delete(key);
    ongoing.controller.abort(new NodeletError("cancelled", "nobody wants the image any more"));
  }
}

function keyOf({ podUid, containerName }: PullFor): string {
  return `${podUid}/${containerName}`;
}

function orLeave<T>(outcome: Promise<T>, leave: AbortSignal): Promise<T> {
  const left = (): NodeletError =>
    new NodeletError("cancelled", "the image is still being pulled", { reason: PULL_GOES_ON });
  if (leave.aborted) return Promise.reject(left());
  return new Promise((resolve, reject) => {
    const onLeave = (): void => reject(left());
    leave.addEventListener("abort", onLeave, { once: true });
    outcome.then(resolve, reject).finally(() => leave.removeEventListener("abort", onLeave));
  });
}
