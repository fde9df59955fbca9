import { orCancelled } from "../async/delay.ts";

/**
 * Removals of what pods left on the node that are under way. A pod that comes back under its UID waits for them before it makes anything, or its
 * new directories and cgroup would go with the old ones.
 */
export class Removals {
  readonly #underWay = new Map<string, Promise<void>>();

  /** Runs the removal of something of the pod; rejects as `work` does. */
  async run(podUid: string, work: () => Promise<void>): Promise<void> {
    const before = this.#underWay.get(podUid) ?? Promise.resolve();
    const removal = before.then(work);
    const over = removal.catch(() => undefined);
    this.#underWay.set(podUid, over);
    try {
      await removal;
    } finally {
      if (this.#underWay.get(podUid) === over) this.#underWay.delete(podUid);
    }
  }

  /** Resolves once nothing of the pod is being removed; rejects with `cancelled` when the signal fires before. */
  async over(podUid: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const removal = this.#underWay.get(podUid);
      if (removal === undefined) return;
      await orCancelled(removal, { what: "waiting for the removal of an earlier pod", signal });
    }
  }
}
