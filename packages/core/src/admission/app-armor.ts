import { type Pod, podContainers } from "../api/index.ts";
import { type AdmissionHandler, reject } from "./admission.ts";

/** The form in which profiles were asked for before the field existed. */
const ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";

/** Refuses a pod that asks for an AppArmor profile on a kernel that cannot enforce one, unless it ran here before. */
export const appArmorHandler: AdmissionHandler = {
  name: "appArmor",
  judge: ({ pod, node }) => {
    const phase = pod.status?.phase ?? "Pending";
    if (phase !== "Pending" || node.appArmor || !asksForAppArmor(pod)) return undefined;
    return reject("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host");
  },
};

function asksForAppArmor(pod: Pod): boolean {
  const types = [
    pod.spec?.securityContext,
    ...[...podContainers(pod)].map(({ container }) => container.securityContext),
  ].map((context) => context?.appArmorProfile?.type);
  const annotated = Object.entries(pod.metadata?.annotations ?? {}).some(
    ([key, value]) => key.startsWith(ANNOTATION_PREFIX) && value !== "" && value !== "unconfined",
  );
  return annotated || types.some((type) => type !== undefined && type !== "Unconfined");
}
