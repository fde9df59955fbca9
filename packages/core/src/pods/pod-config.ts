import { formatPod, type Pod } from "../api/index.ts";
import type { Decision, DecisionSink, PodRef } from "../decisions/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { PodSetListener, PodSourceName } from "../ports/pod-source.ts";
import { annotationOf, CONFIG_SEEN, CONFIG_SOURCE, LOCAL_ANNOTATIONS, podFullName } from "./annotations.ts";
import { sameValue } from "./same-value.ts";
import { rfc3339Nano } from "./timestamp.ts";
import { identityFault } from "./validation/index.ts";

/**
 * What one new set of a source changed: `remove` = gone from the source, `add` = new, `update` = something that matters changed, `delete` =
 * the same with deletionTimestamp set, `reconcile` = only the status that the source holds differs.
 */
export type PodChangeKind = "remove" | "add" | "update" | "delete" | "reconcile";

/** Pods of one source that changed in one way. Never empty. */
export interface PodChange {
  readonly kind: PodChangeKind;
  readonly source: PodSourceName;
  readonly pods: readonly Pod[];
}

/** Everything wanted, by source and pod UID. Immutable. */
export type PodConfigState = ReadonlyMap<PodSourceName, ReadonlyMap<string, Pod>>;

/** What `mergePodSet` answers. */
export interface PodMerge {
  readonly state: PodConfigState;
  /** In the order in which they must be handled: remove, add, update, delete, reconcile. */
  readonly changes: readonly PodChange[];
  /** One for each pod of the set that was ignored. */
  readonly decisions: readonly Decision[];
}

/**
 * Lays a source's new set over what it wanted before, as the kubelet's config layer does. Pure. Pods are the same when spec,
 * labels, deletionTimestamp, deletionGracePeriodSeconds and annotations (but the agent's own) are; an unchanged pod stays the very object it
 * was. One UID under another name or namespace is another pod: the old one is removed and the new one added. Of two pods with one full name or
 * one UID inside a set the first wins, the other is ignored with a FailedValidation event; so is a pod without a usable name, namespace or UID,
 * which a source has to give.
 */
export function mergePodSet(input: {
  readonly state: PodConfigState;
  readonly source: PodSourceName;
  readonly pods: readonly Pod[];
  /** Wall time, for the annotation config.seen of new pods. */
  readonly nowMs: number;
}): PodMerge {
  const before = input.state.get(input.source) ?? new Map<string, Pod>();
  const after = new Map<string, Pod>();
  const changed: Record<PodChangeKind, Pod[]> = { remove: [], add: [], update: [], delete: [], reconcile: [] };
  const { valid, decisions } = usablePods(input.pods, input.source);
  for (const pod of valid) {
    const uid = pod.metadata?.uid ?? "";
    const known = before.get(uid);
    const existing = known !== undefined && podFullName(known) === podFullName(pod) ? known : undefined;
    if (known !== undefined && existing === undefined) changed.remove.push(known);
    const merged = mergePod({ existing, pod, source: input.source, nowMs: input.nowMs });
    after.set(uid, merged.pod);
    if (merged.kind !== undefined) changed[merged.kind].push(merged.pod);
  }
  for (const [uid, pod] of before) {
    if (!after.has(uid)) changed.remove.push(pod);
  }
  const order: readonly PodChangeKind[] = ["remove", "add", "update", "delete", "reconcile"];
  const changes = order.flatMap((kind) =>
    changed[kind].length === 0 ? [] : [{ kind, source: input.source, pods: changed[kind] }],
  );
  return { state: new Map(input.state).set(input.source, after), changes, decisions };
}

function mergePod(input: {
  readonly existing: Pod | undefined;
  readonly pod: Pod;
  readonly source: PodSourceName;
  readonly nowMs: number;
}): { readonly pod: Pod; readonly kind?: PodChangeKind } {
  const { existing, pod, source } = input;
  if (existing === undefined) return { pod: stamp(pod, { source, seen: rfc3339Nano(input.nowMs) }), kind: "add" };
  if (samePod(existing, pod)) {
    if (sameValue(existing.status, pod.status)) return { pod: existing };
    return { pod: { ...existing, ...(pod.status !== undefined && { status: pod.status }) }, kind: "reconcile" };
  }
  const next = stamp(pod, { source, seen: annotationOf(existing, CONFIG_SEEN) ?? rfc3339Nano(input.nowMs) });
  return { pod: next, kind: pod.metadata?.deletionTimestamp === undefined ? "update" : "delete" };
}

function stamp(pod: Pod, local: { readonly source: string; readonly seen: string }): Pod {
  const annotations = copyOf(pod.metadata?.annotations ?? {});
  annotations[CONFIG_SOURCE] = local.source;
  annotations[CONFIG_SEEN] = local.seen;
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** A copy with the same own members, a member named `__proto__` too. */
function copyOf(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record));
}

function samePod(existing: Pod, pod: Pod): boolean {
  const left = existing.metadata ?? {};
  const right = pod.metadata ?? {};
  return (
    sameValue(existing.spec, pod.spec) &&
    sameValue(withoutEmpty(left.labels), withoutEmpty(right.labels)) &&
    left.deletionTimestamp === right.deletionTimestamp &&
    sameValue(left.deletionGracePeriodSeconds, right.deletionGracePeriodSeconds) &&
    sameValue(foreignAnnotations(existing), foreignAnnotations(pod))
  );
}

function withoutEmpty(record: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  return record ?? {};
}

function foreignAnnotations(pod: Pod): Readonly<Record<string, string>> {
  const entries = Object.entries(pod.metadata?.annotations ?? {});
  return Object.fromEntries(entries.filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)));
}

function usablePods(pods: readonly Pod[], source: PodSourceName): { valid: Pod[]; decisions: Decision[] } {
  const names = new Set<string>();
  const uids = new Set<string>();
  const valid: Pod[] = [];
  const decisions: Decision[] = [];
  for (const pod of pods) {
    const ref = refOf(pod);
    const name = podFullName(pod);
    const fault = identityFault(ref);
    if (fault !== undefined) decisions.push(ignored({ pod, source, why: fault }));
    else if (names.has(name)) decisions.push(ignored({ pod, source, why: `duplicate pod name "${ref.name}"` }));
    else if (uids.has(ref.uid)) decisions.push(ignored({ pod, source, why: `duplicate pod UID "${ref.uid}"` }));
    else {
      valid.push(pod);
      names.add(name);
      uids.add(ref.uid);
    }
  }
  return { valid, decisions };
}

function ignored(input: { readonly pod: Pod; readonly source: PodSourceName; readonly why: string }): Decision {
  const { pod, source, why } = input;
  const message = `Error validating pod ${formatPod(pod)} from ${source} due to ${why}, ignoring`;
  return {
    action: "ignore",
    pod: refOf(pod),
    reason: "FailedValidation",
    message,
    outcome: "rejected",
    event: { type: "Warning", reason: "FailedValidation", message },
  };
}

function refOf(pod: Pod): PodRef {
  const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
  return { uid, name, namespace };
}

/** Receives what one set changed; `changes` is empty when a source reported for the first time and wants nothing. */
export type PodChangesListener = (changes: readonly PodChange[], source: PodSourceName) => void;

/** Holds the merged wish of all sources and tells what each new set changed. Synchronous: the listener runs inside `set`. */
export class PodConfig {
  readonly #clock: Clock;
  readonly #decisions: DecisionSink;
  readonly #onChanges: PodChangesListener;
  readonly #expected: ReadonlySet<PodSourceName>;
  readonly #seen = new Set<PodSourceName>();
  #state: PodConfigState = new Map();

  constructor(options: {
    /** Names of all sources that will report; `allSourcesSeen` waits for each. */
    readonly sources: readonly PodSourceName[];
    readonly clock: Clock;
    readonly decisions: DecisionSink;
    readonly onChanges: PodChangesListener;
  }) {
    this.#expected = new Set(options.sources);
    this.#clock = options.clock;
    this.#decisions = options.decisions;
    this.#onChanges = options.onChanges;
  }

  /** The listener to give to the source of that name. */
  listenerFor(source: PodSourceName): PodSetListener {
    return (pods) => this.set({ source, pods });
  }

  /** Replaces everything that `source` wants. */
  set(update: { readonly source: PodSourceName; readonly pods: readonly Pod[] }): void {
    const first = !this.#seen.has(update.source);
    this.#seen.add(update.source);
    const merge = mergePodSet({ state: this.#state, ...update, nowMs: this.#clock.nowMs() });
    this.#state = merge.state;
    for (const decision of merge.decisions) this.#decisions.record(decision);
    if (merge.changes.length > 0 || first) this.#onChanges(merge.changes, update.source);
  }

  /** True once every source reported at least once: before that nothing unknown may be removed. */
  get allSourcesSeen(): boolean {
    return [...this.#expected].every((source) => this.#seen.has(source));
  }

  /** Everything wanted now, sources in the order in which they first reported. */
  pods(): readonly Pod[] {
    return [...this.#state.values()].flatMap((pods) => [...pods.values()]);
  }
}
