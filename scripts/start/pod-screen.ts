import { fitLine, LiveScreen, PodJournal, type PodLook, paint, podTable, takesColour } from "@nodelet/console";

/** What is shown at one moment. */
export interface PodScene {
  readonly title: string;
  readonly looks: readonly PodLook[];
  /** What happens now, in one line. */
  readonly state: string;
  readonly hints: readonly string[];
}

/** Where a screen draws; process.stdout is one. */
export interface ScreenStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Shows pods: a table that is drawn over on a terminal, a line for each change anywhere else. */
export class PodScreen {
  readonly #stream: ScreenStream;
  readonly #live: LiveScreen | undefined;
  readonly #journal = new PodJournal();
  readonly #now: () => number;
  #state = "";

  constructor(options: { readonly stream: ScreenStream; readonly nowMs: () => number }) {
    this.#stream = options.stream;
    this.#now = options.nowMs;
    if (options.stream.isTTY === true) this.#live = new LiveScreen(options.stream);
  }

  /** Writes a line that stays. */
  say(line: string): void {
    if (this.#live !== undefined) this.#live.say(fitLine(line, this.#stream));
    else this.#stream.write(`${line}\n`);
  }

  /** Shows the pods as they are now. */
  show(scene: PodScene): void {
    const nowMs = this.#now();
    if (this.#live === undefined) {
      if (scene.state !== this.#state) this.#stream.write(`${scene.state}\n`);
      this.#state = scene.state;
      for (const line of this.#journal.update(scene.looks, { nowMs })) this.#stream.write(`${line}\n`);
      return;
    }
    const colour = takesColour(this.#stream);
    const { columns: width } = this.#stream;
    const table = podTable(scene.looks, { nowMs, colour, ...(width !== undefined && { width }) });
    const dim = (line: string): string => paint(fitLine(line, this.#stream), "dim", colour);
    this.#live.show([
      fitLine(scene.title, this.#stream),
      "",
      ...(scene.looks.length === 0 ? [dim("no pods")] : table),
      "",
      fitLine(scene.state, this.#stream),
      ...scene.hints.map(dim),
    ]);
  }

  /** Leaves what is shown and gives the terminal back. Idempotent. */
  close(): void {
    this.#live?.close();
  }
}
