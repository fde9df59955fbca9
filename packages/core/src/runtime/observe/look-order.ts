/** One look at the runtime, from the call that lists to the last status. */
export interface Look {
  /** Grows with each look that begins: two that began in one millisecond have an order too. */
  readonly order: number;
  /** Monotonic milliseconds at which it began. */
  readonly atMs: number;
}

/**
 * Which look at a pod counts: the one that began last, whenever it ended. That a pod is gone is remembered for as long as an older look is under
 * way, or that one would bring it back.
 */
export class LookOrder {
  #begun = 0;
  /** Looks under way, and by how many they are held. */
  readonly #underWay = new Map<Look, number>();
  /** Order of the look that was taken last, by pod UID. */
  readonly #taken = new Map<string, number>();
  readonly #gone = new Set<string>();

  /** How many pods are remembered. */
  get size(): number {
    return this.#taken.size;
  }

  begin(atMs: number): Look {
    const look = { order: ++this.#begun, atMs };
    this.hold(look);
    return look;
  }

  /** A part of the look goes on by itself: it needs an `end` of its own. */
  hold(look: Look): void {
    this.#underWay.set(look, (this.#underWay.get(look) ?? 0) + 1);
  }

  end(look: Look): void {
    const holders = (this.#underWay.get(look) ?? 0) - 1;
    if (holders > 0) this.#underWay.set(look, holders);
    else this.#underWay.delete(look);
    if (this.#gone.size > 0) this.#forgetGone();
  }

  /** Whether what the look saw of the pod counts; from then on what began before it does not. */
  take(podUid: string, look: Look): boolean {
    if (!this.#isNewer(podUid, look)) return false;
    this.#taken.set(podUid, look.order);
    this.#gone.delete(podUid);
    return true;
  }

  /** The same for a look that found nothing of the pod. */
  takeGone(podUid: string, look: Look): boolean {
    if (!this.#isNewer(podUid, look)) return false;
    this.#taken.set(podUid, look.order);
    this.#gone.add(podUid);
    return true;
  }

  #isNewer(podUid: string, look: Look): boolean {
    return (this.#taken.get(podUid) ?? 0) <= look.order;
  }

  #forgetGone(): void {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { order } of this.#underWay.keys()) oldest = Math.min(oldest, order);
    for (const podUid of this.#gone) {
      if ((this.#taken.get(podUid) ?? 0) > oldest) continue;
      this.#gone.delete(podUid);
      this.#taken.delete(podUid);
    }
  }
}
