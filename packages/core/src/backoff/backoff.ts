import type { Clock } from "../ports/clock.ts";

/** How long the windows are: the first one, doubled each time, up to the last. */
export interface BackOffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** A back-off that holds now. */
export interface BackOffWindow {
  /** Length of the present window in milliseconds. */
  readonly durationMs: number;
  /** Wall time at which it ends. */
  readonly untilMs: number;
}

/** One key's back-off in a state file. Wall times: monotonic ones mean nothing after a restart. */
export interface BackOffRecord {
  readonly key: string;
  readonly durationMs: number;
  readonly updatedAtMs: number;
}

interface Entry {
  durationMs: number;
  /** Monotonic. */
  updatedAtMs: number;
  /** The event that a window was last counted from, and the monotonic time at which it happened. */
  event: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
}

/** More keys than any node has containers; the oldest go first. */
const MAX_ENTRIES = 10_000;

/** Length of the next window: the first one when there was none or when all was well for twice the longest, else the double. */
export function nextBackOffMs(
  policy: BackOffPolicy,
  previous: { readonly durationMs: number; readonly sinceUpdateMs: number } | undefined,
): number {
  const first = Math.min(policy.initialMs, policy.maxMs);
  if (previous === undefined || previous.sinceUpdateMs > 2 * policy.maxMs) return first;
  return Math.min(previous.durationMs * 2, policy.maxMs);
}

/**
 * Exponential back-off by key, for image pulls and crashing containers alike. Windows are measured on the monotonic clock, so a
 * jump of the wall clock neither ends nor prolongs one. Deterministic: no jitter, as upstream has none here.
 */
export class BackOff {
  readonly #clock: Clock;
  readonly #policy: BackOffPolicy;
  readonly #entries = new Map<string, Entry>();

  constructor(options: { readonly clock: Clock; readonly policy: BackOffPolicy }) {
    this.#clock = options.clock;
    this.#policy = options.policy;
  }

  /** How many keys are held. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Opens the next window of a key and answers its length. `eventWallMs` is when the failure happened (default now): a key that was well
   * for more than twice the longest window before that begins anew.
   */
  next(key: string, options: { readonly eventWallMs?: number } = {}): number {
    const entry = this.#entries.get(key);
    const nowMs = this.#clock.monotonicMs();
    const eventMs = options.eventWallMs === undefined ? nowMs : this.#toMonotonic(options.eventWallMs);
    const durationMs = nextBackOffMs(
      this.#policy,
      entry === undefined ? undefined : { durationMs: entry.durationMs, sinceUpdateMs: eventMs - entry.updatedAtMs },
    );
    this.#put(key, { durationMs, updatedAtMs: nowMs, event: undefined });
    return durationMs;
  }

  /** The window that holds now, counted from the last `next`. */
  sinceUpdate(key: string): BackOffWindow | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : this.#window(entry.durationMs, entry.updatedAtMs);
  }

  /**
   * The window that holds now, counted from an event, such as the end of a container: that long must pass before it starts again.
   * undefined when the key has no window, was well for twice the longest, or the window has passed.
   */
  sinceEvent(key: string, event: { readonly wallMs: number }): BackOffWindow | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.event?.wallMs !== event.wallMs) {
      entry.event = { wallMs: event.wallMs, monotonicMs: this.#toMonotonic(event.wallMs) };
    }
    if (entry.event.monotonicMs - entry.updatedAtMs > 2 * this.#policy.maxMs) return undefined;
    return this.#window(entry.durationMs, entry.event.monotonicMs);
  }

  /** Forgets a key. */
  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Forgets keys that `keep` refuses; answers whether there were any. */
  retain(keep: (key: string) => boolean): boolean {
    const before = this.#entries.size;
    for (const key of this.#entries.keys()) {
      if (!keep(key)) this.#entries.delete(key);
    }
    return this.#entries.size !== before;
  }

  /** Forgets keys that were well for twice the longest window. */
  prune(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [key, entry] of this.#entries) {
      if (nowMs - entry.updatedAtMs > 2 * this.#policy.maxMs) this.#entries.delete(key);
    }
  }

  /** What a state file keeps; JSON. */
  export(): readonly BackOffRecord[] {
    const nowMs = this.#clock.monotonicMs();
    const wallMs = this.#clock.nowMs();
    return [...this.#entries].map(([key, entry]) => ({
      key,
      durationMs: entry.durationMs,
      updatedAtMs: wallMs - (nowMs - entry.updatedAtMs),
    }));
  }

  /**
   * Takes back what `export` gave, possibly to another process. Anything that is no record is dropped; lengths are held to the policy and
   * times in the future count as now, so a damaged file or a clock that jumped never keeps a container down for longer than one window.
   */
  restore(state: unknown): void {
    if (!Array.isArray(state)) return;
    for (const item of state.slice(-MAX_ENTRIES)) {
      const record = asRecord(item);
      if (record === undefined) continue;
      const least = Math.min(this.#policy.initialMs, this.#policy.maxMs);
      const durationMs = Math.min(Math.max(record.durationMs, least), this.#policy.maxMs);
      this.#put(record.key, { durationMs, updatedAtMs: this.#toMonotonic(record.updatedAtMs), event: undefined });
    }
  }

  #window(durationMs: number, fromMs: number): BackOffWindow | undefined {
    const remainingMs = fromMs + durationMs - this.#clock.monotonicMs();
    return remainingMs > 0 ? { durationMs, untilMs: this.#clock.nowMs() + remainingMs } : undefined;
  }

  /** Monotonic time of a wall time that has passed; a time in the future counts as now. */
  #toMonotonic(wallMs: number): number {
    return this.#clock.monotonicMs() - Math.max(0, this.#clock.nowMs() - wallMs);
  }

  #put(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}

function asRecord(item: unknown): BackOffRecord | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { key, durationMs, updatedAtMs } = item as Readonly<Record<string, unknown>>;
  const valid =
    typeof key === "string" &&
    typeof durationMs === "number" &&
    typeof updatedAtMs === "number" &&
    Number.isFinite(durationMs) &&
    Number.isFinite(updatedAtMs);
  return valid ? { key, durationMs, updatedAtMs } : undefined;
}
