/** Whether a pod may run on this node. */
export {
  type AdmissionHandler,
  type AdmissionInput,
  type AdmissionRejection,
  type AdmissionVerdict,
  type NodeFacts,
  runHandlers,
} from "./admission.ts";
export { ADMISSION_HANDLERS, admitPod } from "./admit-pod.ts";
export { findUnbuilt } from "./not-built-yet.ts";
