import type { Clock, Timer } from "@nodelet/core";
import type { ProcessPlan } from "./program.ts";

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number;
  /** Given by the plan, for example `OOMKilled`; empty when the exit code says it all. */
  readonly reason: string;
  /** False when SIGKILL ended it: it could write nothing any more. */
  readonly orderly: boolean;
}

/** What a process needs of its surroundings. */
export interface SimulatedProcessOptions {
  readonly plan: ProcessPlan;
  readonly clock: Clock;
  readonly onOutput: (line: { readonly stream: "stdout" | "stderr"; readonly text: string }) => void;
  /** Called once. */
  readonly onEnd: (end: ProcessEnd) => void;
}

/** 128 + SIGTERM and 128 + SIGKILL. */
const EXIT_SIGTERM = 143;
const EXIT_SIGKILL = 137;

/** A process that follows its plan on the clock. */
export class SimulatedProcess {
  readonly #options: SimulatedProcessOptions;
  readonly #timers: Timer[] = [];
  #ended = false;

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
    const { plan } = options;
    for (const { afterMs = 0, stream = "stdout", text } of plan.output ?? []) {
      if (afterMs <= 0) options.onOutput({ stream, text });
      else this.#after(afterMs, () => options.onOutput({ stream, text }));
    }
    if (plan.exit !== undefined) {
      const { afterMs, exitCode, reason = "" } = plan.exit;
      this.#after(afterMs, () => this.end({ exitCode, reason, orderly: true }));
    }
  }

  /** The stop signal arrives. */
  signal(): void {
    const { onStop } = this.#options.plan;
    if (this.#ended || onStop === "ignore") return;
    const { afterMs = 0, exitCode } = onStop ?? { exitCode: EXIT_SIGTERM };
    const end: ProcessEnd = { exitCode, reason: "", orderly: true };
    if (afterMs <= 0) this.end(end);
    else this.#after(afterMs, () => this.end(end));
  }

  /** SIGKILL arrives. */
  kill(): void {
    this.end({ exitCode: EXIT_SIGKILL, reason: "", orderly: false });
  }

  /** Ends now, in a way that somebody else decided. Does nothing when it has ended. */
  end(end: ProcessEnd): void {
    if (this.#ended) return;
    this.vanish();
    this.#options.onEnd(end);
  }

  /** Stops without telling anybody, as when the machine loses power. */
  vanish(): void {
    this.#ended = true;
    for (const timer of this.#timers) timer.cancel();
  }

  #after(delayMs: number, action: () => void): void {
    this.#timers.push(this.#options.clock.setTimer(delayMs, action));
  }
}
