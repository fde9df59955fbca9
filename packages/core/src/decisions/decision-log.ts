import type { Clock } from "../ports/clock.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { LogFields, Logger } from "../ports/logger.ts";
import type { Decision, DecisionRecord, DecisionSink } from "./decision.ts";
import { clipMessage } from "./message-limit.ts";

/** How much is kept. */
const RECORDS_PER_POD = 100;
const NODE_RECORDS = 200;
const PODS_KEPT = 1000;
/** Of all pods together: a few megabytes, however many pods loop. */
const RECORDS_KEPT = 10_000;
/** Decisions that come again in turn with so few others are counted: what waits or fails says several things at each try. */
const TURNS = 8;

/**
 * Keeps the last decisions a pod (and of the node), and tells each to the log and the event sink. Repeats of one decision are counted
 * instead of kept. Pods that were not heard of for longest are forgotten first.
 */
export class DecisionLog implements DecisionSink {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: EventSink;
  readonly #byPod = new Map<string, DecisionRecord[]>();
  readonly #node: DecisionRecord[] = [];
  readonly #listeners = new Set<(record: DecisionRecord) => void>();
  #seq = 0;
  /** Records of pods that are kept now. */
  #kept = 0;

  constructor(ports: { readonly clock: Clock; readonly logger: Logger; readonly events: EventSink }) {
    this.#clock = ports.clock;
    this.#logger = ports.logger;
    this.#events = ports.events;
  }

  record({ isNews = false, ...decision }: Decision): void {
    const made = {
      ...decision,
      message: clipMessage(decision.message),
      seq: ++this.#seq,
      atMs: this.#clock.nowMs(),
      count: 1,
    };
    const record = this.#keep(made, { isNews });
    this.#log(record);
    this.#guarded(record, () => this.#tell(record));
    for (const listener of this.#listeners) this.#guarded(record, () => listener(record));
  }

  /** Oldest first. Without a pod: all that is kept, in order. */
  list(options: { readonly podUid?: string } = {}): readonly DecisionRecord[] {
    if (options.podUid !== undefined) return [...(this.#byPod.get(options.podUid) ?? [])];
    return [...this.#node, ...[...this.#byPod.values()].flat()].sort((left, right) => left.seq - right.seq);
  }

  /** The newest decision about a pod. */
  latest(podUid: string): DecisionRecord | undefined {
    return this.#byPod.get(podUid)?.at(-1);
  }

  /** Calls `listener` for each new record; answers the way to stop it. */
  subscribe(listener: (record: DecisionRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(record: DecisionRecord, { isNews }: { readonly isNews: boolean }): DecisionRecord {
    const list = this.#listFor(record);
    const isRepeated = (kept: DecisionRecord, index: number): boolean =>
      index >= list.length - TURNS && sameDecision(kept, record);
    const at = isNews ? -1 : list.findLastIndex(isRepeated);
    const [earlier] = at === -1 ? [] : list.splice(at, 1);
    if (earlier !== undefined) {
      const merged = { ...record, count: earlier.count + 1 };
      list.push(merged);
      return merged;
    }
    list.push(record);
    if (record.pod !== undefined) this.#kept += 1;
    if (list.length > (record.pod === undefined ? NODE_RECORDS : RECORDS_PER_POD)) {
      list.shift();
      if (record.pod !== undefined) this.#kept -= 1;
    }
    while (this.#kept > RECORDS_KEPT) this.#forgetOldest();
    return record;
  }

  #listFor(record: DecisionRecord): DecisionRecord[] {
    if (record.pod === undefined) return this.#node;
    const uid = record.pod.uid;
    const list = this.#byPod.get(uid) ?? [];
    this.#byPod.delete(uid);
    this.#byPod.set(uid, list);
    if (this.#byPod.size > PODS_KEPT) this.#forgetOldest();
    return list;
  }

  #forgetOldest(): void {
    for (const [uid, list] of this.#byPod) {
      this.#byPod.delete(uid);
      this.#kept -= list.length;
      return;
    }
  }

  #log(record: DecisionRecord): void {
    const fields: LogFields = {
      reason: record.reason,
      ...(record.pod && { pod: `${record.pod.namespace}/${record.pod.name}`, podUID: record.pod.uid }),
      ...(record.container !== undefined && { container: record.container }),
      ...record.inputs,
      ...(record.nextTryMs !== undefined && { nextTryInMs: Math.max(0, Math.round(record.nextTryMs - record.atMs)) }),
    };
    // Repeats are news only for those who look closely.
    if (record.count > 1) this.#logger.debug(4, record.message, { ...fields, count: record.count });
    else if (record.outcome === "failed" || record.outcome === "rejected") this.#logger.warn(record.message, fields);
    else this.#logger.debug(2, record.message, fields);
  }

  /** Whoever hears of decisions has no say in them: what is thrown there stops no pod. */
  #guarded(record: DecisionRecord, tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#logger.error("Telling a decision failed; the agent goes on", { reason: record.reason, err: error });
    }
  }

  #tell(record: DecisionRecord): void {
    if (record.event === undefined || record.pod === undefined) return;
    this.#events.emit({
      ...record.event,
      message: clipMessage(record.event.message),
      involved: {
        kind: "Pod",
        namespace: record.pod.namespace,
        name: record.pod.name,
        uid: record.pod.uid,
        ...(record.container !== undefined && {
          fieldPath: `spec.${record.containerField ?? "containers"}{${record.container}}`,
        }),
      },
      atMs: record.atMs,
    });
  }
}

function sameDecision(left: Decision, right: Decision): boolean {
  return (
    left.action === right.action &&
    left.container === right.container &&
    left.reason === right.reason &&
    left.message === right.message &&
    left.outcome === right.outcome &&
    left.event?.message === right.event?.message
  );
}
