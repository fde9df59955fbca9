import { type ErrorKind, NodeletError } from "@nodelet/core";
import { expect } from "vitest";

/** Waits for a call that must fail with a NodeletError of one of these kinds, and answers the error. */
export async function expectFailure(
  call: Promise<unknown>,
  kinds: ErrorKind | readonly ErrorKind[],
): Promise<NodeletError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome))
    throw new Error(`expected a failure (${String(kinds)}), but the call answered ${String(outcome.value)}`);
  const { error } = outcome;
  if (!NodeletError.is(error))
    throw new Error(`expected a NodeletError (${String(kinds)}), but got ${String(error)}`, { cause: error });
  expect(typeof kinds === "string" ? [kinds] : kinds, `kind of "${error.message}"`).toContain(error.kind);
  return error;
}

/** A signal that has fired. */
export function firedSignal(): AbortSignal {
  return AbortSignal.abort(new Error("the caller gave up"));
}
