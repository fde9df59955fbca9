import type { Pod } from "../api/index.ts";
import type { PodChange, PodChangeKind } from "../pods/index.ts";
import type { PodSourceName } from "../ports/pod-source.ts";

/** What waits for one pod of one source: it went, or it is as it is now, or both in that order. */
interface Pending {
  readonly source: PodSourceName;
  /** The pod as it was when it went. */
  gone: Pod | undefined;
  next: { readonly kind: NextKind; readonly pod: Pod } | undefined;
}

type NextKind = Exclude<PodChangeKind, "remove">;

/** The order in which changes are handed on: what goes makes room for what comes. */
const ORDER: readonly NextKind[] = ["add", "update", "delete", "reconcile"];
/** Of two changes of a known pod the one that asks for more counts. */
const WEIGHT: Readonly<Record<NextKind, number>> = { reconcile: 0, update: 1, delete: 2, add: 3 };

/**
 * Changes of the desired pods that wait for the runtime. What follows one another about one pod is laid together, so there are never more than one
 * entry for each pod that is known or wanted, however often a source speaks: a pod that came and went meanwhile was never there; one that went and
 * came back is another one under the same UID.
 */
export class PendingChanges {
  readonly #byPod = new Map<string, Pending>();

  /** How many pods wait. */
  get size(): number {
    return this.#byPod.size;
  }

  push(change: PodChange): void {
    for (const pod of change.pods) {
      const key = `${change.source}\0${pod.metadata?.uid ?? ""}`;
      const pending = this.#byPod.get(key) ?? { source: change.source, gone: undefined, next: undefined };
      if (change.kind === "remove") takeAway(pending, pod);
      else pending.next = laterOf(pending.next, { kind: change.kind, pod });
      if (pending.gone === undefined && pending.next === undefined) this.#byPod.delete(key);
      else this.#byPod.set(key, pending);
    }
  }

  /** Takes everything, by kind: removals first. */
  drain(): readonly PodChange[] {
    const all = [...this.#byPod.values()];
    this.#byPod.clear();
    const gone = all.flatMap(({ source, gone: pod }) => (pod === undefined ? [] : [{ source, pod }]));
    const next = ORDER.flatMap((kind) =>
      bySource(
        kind,
        all.flatMap(({ source, next: change }) => (change?.kind === kind ? [{ source, pod: change.pod }] : [])),
      ),
    );
    return [...bySource("remove", gone), ...next];
  }
}

function takeAway(pending: Pending, pod: Pod): void {
  // What nobody was told of yet need not be taken back.
  if (pending.next?.kind !== "add") pending.gone = pod;
  pending.next = undefined;
}

function laterOf(before: Pending["next"], after: NonNullable<Pending["next"]>): Pending["next"] {
  const weightier = before !== undefined && WEIGHT[before.kind] > WEIGHT[after.kind];
  return weightier ? { kind: before.kind, pod: after.pod } : after;
}

function bySource(
  kind: PodChangeKind,
  entries: readonly { readonly source: PodSourceName; readonly pod: Pod }[],
): readonly PodChange[] {
  const sources = Map.groupBy(entries, ({ source }) => source);
  return [...sources].map(([source, rows]) => ({ kind, source, pods: rows.map(({ pod }) => pod) }));
}
