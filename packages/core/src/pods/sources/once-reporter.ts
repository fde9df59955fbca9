import type { DecisionSink } from "../../decisions/index.ts";
import type { Logger } from "../../ports/logger.ts";

/** Tells each fault once, until it changes or is over. */
export class OnceReporter {
  #decisions: DecisionSink | undefined;
  readonly #logger: Logger;
  readonly #told = new Map<string, string>();

  constructor(options: { readonly logger: Logger }) {
    this.#logger = options.logger;
  }

  /** From now on faults go here. */
  tellTo(decisions: DecisionSink): void {
    this.#decisions = decisions;
  }

  /** A manifest that is not used. `topic` is what the fault is about; a new message about it replaces the old one. */
  fault(report: { readonly topic: string; readonly path: string; readonly message: string }): void {
    if (!this.#isNew(report)) return;
    this.#decisions?.record({
      action: "ignore",
      reason: "FailedManifest",
      message: report.message,
      outcome: "failed",
      inputs: { path: report.path },
      isNews: true,
    });
  }

  /** Something odd that does no harm. */
  warning(report: { readonly topic: string; readonly path: string; readonly message: string }): void {
    if (this.#isNew(report)) this.#logger.warn(report.message, { path: report.path });
  }

  /** The fault is over: the next one of that topic is news. */
  over(topic: string): void {
    this.#told.delete(topic);
  }

  /** Forgets what is about something that is not there any more: the next fault of that topic is news. */
  retain(isThere: (topic: string) => boolean): void {
    for (const topic of this.#told.keys()) if (!isThere(topic)) this.#told.delete(topic);
  }

  #isNew({ topic, message }: { readonly topic: string; readonly message: string }): boolean {
    if (this.#told.get(topic) === message) return false;
    this.#told.set(topic, message);
    return true;
  }
}
