import { Wake } from "../async/wake.ts";
import type { BackOffRecord } from "../backoff/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { StateStore } from "../ports/state-store.ts";

const STATE_FILE = "back_off_state";

/** Back-offs of one kind, as they go to and come from the state file. */
export interface BackOffSection {
  readonly export: () => readonly BackOffRecord[];
  readonly restore: (state: unknown) => void;
}

/**
 * Keeps back-offs in a state file, so that a restart of the agent does not let crash loops and failing pulls run free. A damaged file is set
 * aside and told: then back-offs start anew.
 */
export class BackOffState {
  readonly #state: StateStore;
  readonly #logger: Logger;
  readonly #sections: Readonly<Record<string, BackOffSection>>;
  readonly #changed: Wake;

  constructor(options: {
    readonly ports: { readonly clock: Clock; readonly state: StateStore; readonly logger: Logger };
    readonly sections: Readonly<Record<string, BackOffSection>>;
  }) {
    this.#state = options.ports.state;
    this.#logger = options.ports.logger;
    this.#sections = options.sections;
    this.#changed = new Wake(options.ports.clock);
  }

  /** Takes up what an earlier run left. */
  async load(signal: AbortSignal): Promise<void> {
    const read = await this.#state.read({ name: STATE_FILE, signal });
    if (read.kind === "damaged") {
      const { setAside, reason } = read;
      this.#logger.warn("The back-off state was damaged and set aside; back-offs start anew", { setAside, reason });
    }
    if (read.kind !== "ok" || typeof read.value !== "object" || read.value === null) return;
    const saved = read.value as Readonly<Record<string, unknown>>;
    for (const [name, section] of Object.entries(this.#sections)) {
      if (Object.hasOwn(saved, name)) section.restore(saved[name]);
    }
  }

  /** Something changed: it is written at once, or after the write under way. */
  touch(): void {
    this.#changed.wake();
  }

  /** Writes changes until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#changed.wait(signal);
      await this.#write();
    }
    this.#changed.clear();
  }

  async #write(): Promise<void> {
    const sections = Object.entries(this.#sections).map(([name, section]) => [name, section.export()] as const);
    try {
      await this.#state.write({ name: STATE_FILE, value: Object.fromEntries(sections) });
    } catch (error) {
      this.#logger.error("Writing the back-off state failed; it is written with the next change", { err: error });
    }
  }
}
