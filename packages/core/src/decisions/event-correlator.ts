import type { Clock } from "../ports/clock.ts";
import type { EventSink, NodeEvent } from "../ports/event-sink.ts";
import { fnv1a64 } from "../text/fnv.ts";
import { clipMessage } from "./message-limit.ts";

/** Upstream's figures: so many different texts of one kind within ten minutes, then they are told as one. */
const SIMILAR_LIMIT = 10;
const SIMILAR_WINDOW_MS = 600_000;
/** So many events about one object at once, and another one every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Kinds and objects that are remembered; the least recently used go first. */
const REMEMBERED = 4096;
const COMBINED = "(combined from similar events): ";

interface Similar {
  /** Hashes of the different texts of the present window. */
  readonly texts: Set<bigint>;
  lastMs: number;
}

interface Allowance {
  tokens: number;
  atMs: number;
}

/**
 * Keeps events from flooding whoever stores them, as the kubelet's correlator does: what differs in nothing but its text is marked as combined from
 * the tenth text on, so that a store may count it as one, and about one object no more than 25 pass at once, then one every five minutes.
 */
export class EventCorrelator implements EventSink {
  readonly #sink: EventSink;
  readonly #clock: Clock;
  readonly #similar = new Map<string, Similar>();
  readonly #allowances = new Map<string, Allowance>();

  constructor(options: { readonly sink: EventSink; readonly clock: Clock }) {
    this.#sink = options.sink;
    this.#clock = options.clock;
  }

  emit(event: NodeEvent): void {
    const combined = this.#isOneOfMany(event);
    if (!this.#mayPass(event)) return;
    this.#sink.emit(combined ? { ...event, message: clipMessage(`${COMBINED}${event.message}`) } : event);
  }

  #isOneOfMany({ type, reason, involved, message }: NodeEvent): boolean {
    const nowMs = this.#clock.monotonicMs();
    const similar = touch(this.#similar, keyOf(involved, type, reason), () => ({ texts: new Set(), lastMs: nowMs }));
    if (nowMs - similar.lastMs > SIMILAR_WINDOW_MS) similar.texts.clear();
    similar.lastMs = nowMs;
    if (similar.texts.size < SIMILAR_LIMIT) similar.texts.add(fnv1a64(message));
    return similar.texts.size >= SIMILAR_LIMIT;
  }

  #mayPass({ involved }: NodeEvent): boolean {
    const nowMs = this.#clock.monotonicMs();
    const allowance = touch(this.#allowances, keyOf(involved), () => ({ tokens: BURST, atMs: nowMs }));
    allowance.tokens = Math.min(BURST, allowance.tokens + (nowMs - allowance.atMs) / REFILL_MS);
    allowance.atMs = nowMs;
    if (allowance.tokens < 1) return false;
    allowance.tokens -= 1;
    return true;
  }
}

function keyOf({ kind, namespace, name, uid }: NodeEvent["involved"], ...more: readonly string[]): string {
  return JSON.stringify([kind, namespace, name, uid, ...more]);
}

/** The entry of that key, which is now the most recently used. */
function touch<T>(entries: Map<string, T>, key: string, make: () => T): T {
  const entry = entries.get(key) ?? make();
  entries.delete(key);
  entries.set(key, entry);
  const [oldest] = entries.keys();
  if (entries.size > REMEMBERED && oldest !== undefined) entries.delete(oldest);
  return entry;
}
