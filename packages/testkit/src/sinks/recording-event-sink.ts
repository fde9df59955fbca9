import type { EventSink, NodeEvent } from "@nodelet/core";

/** Keeps every event, unmerged, in the order in which they were told; the oldest go when there are more than `limit`. */
export class RecordingEventSink implements EventSink {
  readonly #limit: number;
  #events: NodeEvent[] = [];

  constructor(options: { readonly limit?: number } = {}) {
    this.#limit = options.limit ?? 100_000;
  }

  get events(): readonly NodeEvent[] {
    return this.#events;
  }

  emit(event: NodeEvent): void {
    this.#events.push(event);
    if (this.#events.length > this.#limit * 2) this.#events = this.#events.slice(-this.#limit);
  }

  /** Events of one pod or of all, by reason alone. */
  reasons(filter: { readonly uid?: string } = {}): readonly string[] {
    const events =
      filter.uid === undefined ? this.#events : this.#events.filter(({ involved }) => involved.uid === filter.uid);
    return events.map(({ reason }) => reason);
  }
}
