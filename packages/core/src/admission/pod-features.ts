import { hasPodLevelResources } from "../api/index.ts";
import { type AdmissionHandler, reject } from "./admission.ts";

/** Refuses pod-level resources when their gate was switched off (KEP-2837; on by default). */
export const podFeaturesHandler: AdmissionHandler = {
  name: "podFeatures",
  judge: ({ pod, gates }) =>
    gates["PodLevelResources"] === false && hasPodLevelResources(pod)
      ? reject("PodLevelResourcesNotSupported", "PodLevelResources feature gate is disabled")
      : undefined,
};
