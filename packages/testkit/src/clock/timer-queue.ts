/** A timer in the queue. `callback` is undefined once it was cancelled or has fired. */
export interface QueuedTimer {
  readonly dueMs: number;
  readonly sequence: number;
  callback: (() => void) | undefined;
}

const COMPACT_FROM = 64;

/** Timers by due time, then by the order in which they were set: a binary heap that forgets cancelled timers when they become many. */
export class TimerQueue {
  #heap: QueuedTimer[] = [];
  #sequence = 0;
  #cancelled = 0;

  /** Timers that are still to fire. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  add(timer: { readonly dueMs: number; readonly callback: () => void }): QueuedTimer {
    const queued: QueuedTimer = { dueMs: timer.dueMs, sequence: this.#sequence++, callback: timer.callback };
    this.#heap.push(queued);
    this.#up(this.#heap.length - 1);
    return queued;
  }

  /** Idempotent; a timer that has fired is left alone. */
  cancel(timer: QueuedTimer): void {
    if (timer.callback === undefined) return;
    timer.callback = undefined;
    this.#cancelled += 1;
    if (this.#cancelled >= COMPACT_FROM && this.#cancelled * 2 > this.#heap.length) this.#compact();
  }

  /** The timer that fires next, left in the queue. */
  peek(): QueuedTimer | undefined {
    while (this.#heap[0] !== undefined && this.#heap[0].callback === undefined) {
      this.#removeFirst();
      this.#cancelled -= 1;
    }
    return this.#heap[0];
  }

  /** Takes the timer that fires next out of the queue and answers its callback. */
  take(): (() => void) | undefined {
    const timer = this.peek();
    if (timer === undefined) return undefined;
    this.#removeFirst();
    const callback = timer.callback;
    timer.callback = undefined;
    return callback;
  }

  #compact(): void {
    this.#heap = this.#heap.filter((timer) => timer.callback !== undefined).sort((a, b) => (before(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#down();
  }

  #up(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const child = heap[at] as QueuedTimer;
      const above = heap[parent] as QueuedTimer;
      if (!before(child, above)) return;
      heap[at] = above;
      heap[parent] = child;
      at = parent;
    }
  }

  #down(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const least = right < heap.length && before(heap[right] as QueuedTimer, heap[left] as QueuedTimer) ? right : left;
      const child = heap[least] as QueuedTimer;
      const parent = heap[at] as QueuedTimer;
      if (!before(child, parent)) return;
      heap[at] = child;
      heap[least] = parent;
      at = least;
    }
  }
}

function before(a: QueuedTimer, b: QueuedTimer): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.sequence < b.sequence);
}
