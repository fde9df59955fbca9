import type { Decision, DecisionSink } from "@nodelet/core";

/**
 * Passes decisions on to an agent that is made later: sources are made before the agent that they feed, and decide while it runs. What comes
 * before that is kept for it.
 */
export class DecisionRelay implements DecisionSink {
  #sink: DecisionSink | undefined;
  #waiting: Decision[] = [];

  record(decision: Decision): void {
    if (this.#sink === undefined) this.#waiting.push(decision);
    else this.#sink.record(decision);
  }

  /** Names the agent's own log. */
  connect(sink: DecisionSink): void {
    this.#sink = sink;
    for (const decision of this.#waiting.splice(0)) sink.record(decision);
  }
}
