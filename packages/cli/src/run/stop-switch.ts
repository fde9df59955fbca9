/** The one way to stop: signals and the control socket press it. */
export class StopSwitch {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it was pressed; undefined as long as it was not. */
  get reason(): string | undefined {
    return this.signal.aborted ? String(this.signal.reason) : undefined;
  }

  /** Stops gracefully. Further calls change nothing. */
  request(reason: string): void {
    this.#controller.abort(reason);
  }
}
