import type { Clock } from "@nodelet/core";
import { CallJournal } from "../runtime/call-journal.ts";
import type { RecordedCall } from "../runtime/runtime-call.ts";
import { requestOf, wrapMethods } from "./wrap-methods.ts";

/** A port whose calls are written down. */
export interface Recorded<T> {
  readonly port: T;
  /** The calls so far, in the order in which they were made; `clear` forgets them. */
  readonly journal: CallJournal;
}

/** Writes down every call of a port, or only those named: request, time, and what came of it. Calls that answer at once are noted as ok. */
export function recordCalls<T extends object>(
  port: T,
  options: { readonly clock: Clock; readonly only?: readonly (keyof T & string)[]; readonly journal?: CallJournal },
): Recorded<T> {
  const journal = options.journal ?? new CallJournal();
  const only: readonly string[] | undefined = options.only;
  const recorded = wrapMethods(port, (name, method) => {
    if (only !== undefined && !only.includes(name)) return method;
    return (...args) => {
      const entry: RecordedCall = journal.begin({ call: name, request: requestOf(args), atMs: options.clock.nowMs() });
      const answer = method(...args);
      if (answer instanceof Promise) return journal.follow(entry, answer);
      entry.outcome = "ok";
      return answer;
    };
  });
  return { port: recorded, journal };
}
