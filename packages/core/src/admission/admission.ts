import type { Pod, Quantity } from "../api/index.ts";

/** What admission knows of the node. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Node taints; only NoExecute matters to a node agent. */
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Operating system as in spec.os.name. */
  readonly os: string;
  /** `uname -r`, for the sysctls that are safe only from some kernel on. */
  readonly kernelVersion: string;
  /** What pods may use together, by resource name. A resource that is missing here is unknown to the node. */
  readonly allocatable: Readonly<Record<string, Quantity>>;
  /** The runtime honours supplementalGroupsPolicy Strict (node.status.features). */
  readonly supplementalGroupsPolicy: boolean;
  /** Some handler of the runtime can make user namespaces (KEP-127). */
  readonly userNamespaces: boolean;
  /** The kernel enforces AppArmor profiles. */
  readonly appArmor: boolean;
}

/** Everything a handler may look at. */
export interface AdmissionInput {
  readonly pod: Pod;
  /** Pods that hold resources of the node now (admitted and not terminal), without `pod` itself; with allocated resources substituted. */
  readonly otherPods: readonly Pod[];
  readonly node: NodeFacts;
  /** Patterns of unsafe sysctls that the operator allows (allowedUnsafeSysctls). */
  readonly allowedUnsafeSysctls: readonly string[];
  readonly gates: Readonly<Record<string, boolean>>;
}

/** Whether a pod may run here. `reason` and `message` go into event and status as they are. */
export type AdmissionVerdict = { readonly admit: true } | AdmissionRejection;

/** Why a pod may not run here. */
export interface AdmissionRejection {
  readonly admit: false;
  readonly reason: string;
  readonly message: string;
}

/** One rule. Pure: answers a rejection, or undefined to let the next one look. */
export interface AdmissionHandler {
  readonly name: string;
  readonly judge: (input: AdmissionInput) => AdmissionRejection | undefined;
}

/** Shorthand for handlers. */
export function reject(reason: string, message: string): AdmissionRejection {
  return { admit: false, reason, message };
}

/** Runs the handlers in order; the first rejection wins. */
export function runHandlers(input: AdmissionInput, handlers: readonly AdmissionHandler[]): AdmissionVerdict {
  for (const handler of handlers) {
    const rejection = handler.judge(input);
    if (rejection !== undefined) return rejection;
  }
  return { admit: true };
}
