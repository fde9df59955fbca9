import { NodeletError } from "@nodelet/core";
import type { Fault, FaultPlan } from "./fault-plan.ts";
import { type AnyMethod, requestOf, signalOf, wrapMethods } from "./wrap-methods.ts";

/**
 * A port in front of another whose calls go wrong by plan: any port whose methods answer with promises. Methods that answer at once, such as
 * `emit` or `parentFor`, must be left out of the plan by naming the calls that may fail.
 */
export function withFaults<T extends object>(port: T, plan: FaultPlan): T {
  return wrapMethods(port, (name, method) => (...args) => {
    const fault = plan.next({ call: name, request: requestOf(args) });
    return fault === undefined ? method(...args) : faultyCall({ name, method, args, fault, plan });
  });
}

async function faultyCall(call: {
  readonly name: string;
  readonly method: AnyMethod;
  readonly args: readonly unknown[];
  readonly fault: Fault;
  readonly plan: FaultPlan;
}): Promise<unknown> {
  const { name, method, args, fault, plan } = call;
  switch (fault.kind) {
    case "error":
      throw new NodeletError(fault.error, fault.message ?? `${name} failed by plan`);
    case "delay":
      await plan.delay(fault, signalOf(args));
      return method(...args);
    case "hang":
      await plan.hang(signalOf(args));
      return method(...args);
    case "lostAnswer":
      await method(...args);
      throw new NodeletError(
        fault.error ?? "unknownOutcome",
        fault.message ?? `the answer of ${name} was lost by plan`,
      );
  }
}
