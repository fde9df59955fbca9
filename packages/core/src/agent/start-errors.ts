import type { StartError } from "../status/status-snapshot.ts";

/** Upstream's bound on remembered start errors. */
const LIMIT = 1000;

/**
 * Why containers could not be started at their last try, by pod UID and container name; what their status shows as waiting. The least
 * recently set are forgotten first.
 */
export class StartErrors {
  readonly #byPod = new Map<string, Map<string, StartError>>();
  #size = 0;

  /** How many errors are held. */
  get size(): number {
    return this.#size;
  }

  /** The errors of one pod by container name. */
  of(podUid: string): ReadonlyMap<string, StartError> {
    return this.#byPod.get(podUid) ?? NONE;
  }

  set(podUid: string, containerName: string, error: StartError): void {
    const errors = this.#byPod.get(podUid) ?? new Map<string, StartError>();
    if (!errors.has(containerName)) this.#size += 1;
    errors.set(containerName, error);
    this.#byPod.delete(podUid);
    this.#byPod.set(podUid, errors);
    while (this.#size > LIMIT) {
      const [oldest] = this.#byPod.keys();
      if (oldest === undefined || oldest === podUid) break;
      this.forget(oldest);
    }
  }

  clear(podUid: string, containerName: string): void {
    const errors = this.#byPod.get(podUid);
    if (errors?.delete(containerName)) this.#size -= 1;
    if (errors?.size === 0) this.#byPod.delete(podUid);
  }

  forget(podUid: string): void {
    this.#size -= this.#byPod.get(podUid)?.size ?? 0;
    this.#byPod.delete(podUid);
  }
}

const NONE: ReadonlyMap<string, StartError> = new Map();
