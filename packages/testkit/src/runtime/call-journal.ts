import { NodeletError } from "@nodelet/core";
import type { RecordedCall } from "./runtime-call.ts";

/** The last calls in the order in which they were made; older ones than `limit` are forgotten. */
export class CallJournal {
  readonly #limit: number;
  #calls: RecordedCall[] = [];

  constructor(options: { readonly limit?: number } = {}) {
    this.#limit = options.limit ?? 100_000;
  }

  get calls(): readonly RecordedCall[] {
    return this.#calls;
  }

  clear(): void {
    this.#calls = [];
  }

  /** Notes a call that begins. Signals and functions are left out of the request. */
  begin(call: { readonly call: string; readonly request: object; readonly atMs: number }): RecordedCall {
    const request = Object.fromEntries(
      Object.entries(call.request).filter(([key, value]) => key !== "signal" && typeof value !== "function"),
    );
    const entry: RecordedCall = { call: call.call, request, atMs: call.atMs, outcome: "pending" };
    this.#calls.push(entry);
    if (this.#calls.length > this.#limit * 2) this.#calls = this.#calls.slice(-this.#limit);
    return entry;
  }

  /** Waits for the call's promise and notes what came of it; answers as the promise does. */
  async follow<T>(entry: RecordedCall, promise: Promise<T>): Promise<T> {
    try {
      const answer = await promise;
      entry.outcome = "ok";
      if (answer !== undefined) entry.answer = answer;
      return answer;
    } catch (error) {
      entry.outcome = NodeletError.from(error).kind;
      throw error;
    }
  }
}
