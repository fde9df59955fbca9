import { type AdmissionHandler, type AdmissionInput, type AdmissionVerdict, runHandlers } from "./admission.ts";
import { appArmorHandler } from "./app-armor.ts";
import { notBuiltYetHandler } from "./not-built-yet.ts";
import { podFeaturesHandler } from "./pod-features.ts";
import { predicateHandler } from "./predicates.ts";
import { sysctlHandler } from "./sysctls.ts";

/** The kubelet's handlers in the kubelet's order, and after them what this version cannot do. */
export const ADMISSION_HANDLERS: readonly AdmissionHandler[] = [
  sysctlHandler,
  predicateHandler,
  appArmorHandler,
  podFeaturesHandler,
  notBuiltYetHandler,
];

/**
 * Decides whether a pod may run on this node. Pure. `adopted` marks a pod that an earlier run of the agent admitted and whose containers
 * still live: it was judged once, and a restart is no reason to kill it under rules or figures that are new. Throws `invalid` only for
 * quantities that validation would have refused.
 */
export function admitPod(input: AdmissionInput & { readonly adopted?: boolean }): AdmissionVerdict {
  return input.adopted === true ? { admit: true } : runHandlers(input, ADMISSION_HANDLERS);
}
