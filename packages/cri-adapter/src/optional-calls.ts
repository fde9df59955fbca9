import { isErrorOfKind } from "@nodelet/core";

/**
 * Which of the procedures that older runtimes lack this one lacks. A procedure is held to be there until it answers
 * Unimplemented, and then is not asked again until `forget`.
 */
export class OptionalCalls {
  readonly #absent = new Set<string>();

  /** True until the procedure answered Unimplemented. */
  has(method: string): boolean {
    return !this.#absent.has(method);
  }

  /** Calls the procedure unless it is known to be absent; undefined when it is. Other failures pass through. */
  async attempt<T>(method: string, call: () => Promise<T>): Promise<T | undefined> {
    if (!this.has(method)) return undefined;
    try {
      return await call();
    } catch (error) {
      if (!isErrorOfKind(error, "unsupported")) throw error;
      this.#absent.add(method);
      return undefined;
    }
  }

  /** Remembers that the procedure is absent. */
  markAbsent(method: string): void {
    this.#absent.add(method);
  }

  /** Forgets what was found out: the runtime was away and may have come back as another version. */
  forget(): void {
    this.#absent.clear();
  }
}
