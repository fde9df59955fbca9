import type {
  AppArmorProfile,
  Int64,
  Pod,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
} from "../../api/index.ts";
import type { Place } from "./env.ts";
import { descendingPath, sysctlName } from "./formats.ts";

const MAX_ID = 2 ** 31 - 1;
const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];
const MAX_PROFILE_BYTES = 4095;

/** The pod's securityContext and the fields that share the host's namespaces. */
export function validatePodSecurity(pod: Pod, { problems }: Pick<Place, "problems">): void {
  const spec = pod.spec;
  const context: PodSecurityContext = spec?.securityContext ?? {};
  const path = "spec.securityContext";
  for (const field of ["fsGroup", "runAsUser", "runAsGroup"] as const)
    validateId(context[field], { path: `${path}.${field}`, problems });
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    validateId(group, { path: `${path}.supplementalGroups[${index}]`, problems });
  }
  if (spec?.shareProcessNamespace === true && spec.hostPID === true) {
    problems.invalid({
      path: "spec.shareProcessNamespace",
      value: true,
      detail: "ShareProcessNamespace and HostPID cannot both be enabled",
    });
  }
  validateSysctls(pod, { path: `${path}.sysctls`, problems });
  word(context.fsGroupChangePolicy, {
    path: `${path}.fsGroupChangePolicy`,
    problems,
    words: ["Always", "OnRootMismatch"],
  });
  word(context.supplementalGroupsPolicy, {
    path: `${path}.supplementalGroupsPolicy`,
    problems,
    words: ["Merge", "Strict"],
  });
  word(context.seLinuxChangePolicy, {
    path: `${path}.seLinuxChangePolicy`,
    problems,
    words: ["MountOption", "Recursive"],
  });
  validateSeccomp(context.seccompProfile, { path: `${path}.seccompProfile`, problems });
  validateAppArmor(context.appArmorProfile, { path: `${path}.appArmorProfile`, problems });
  if (context.windowsOptions?.hostProcess !== undefined)
    validateHostProcess(pod, { path: `${path}.windowsOptions`, problems });
  if (spec?.hostUsers === false) validateUserNamespace(pod, { path: "spec", problems });
}

/** One container's securityContext. */
export function validateContainerSecurity(
  context: SecurityContext | undefined,
  place: Place & { readonly pod: Pod },
): void {
  if (context === undefined) return;
  const { path, problems } = place;
  for (const field of ["runAsUser", "runAsGroup"] as const)
    validateId(context[field], { path: `${path}.${field}`, problems });
  word(context.procMount, { path: `${path}.procMount`, problems, words: ["Default", "Unmasked"] });
  if (context.procMount === "Unmasked" && place.pod.spec?.hostUsers !== false) {
    problems.invalid({
      path: `${path}.procMount`,
      value: context.procMount,
      detail: "`hostUsers` must be false to use `Unmasked`",
    });
  }
  validateSeccomp(context.seccompProfile, { path: `${path}.seccompProfile`, problems });
  validateAppArmor(context.appArmorProfile, { path: `${path}.appArmorProfile`, problems });
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged === true) {
    problems.invalid({
      path,
      value: "",
      detail: "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
    });
  }
  if ((context.capabilities?.add ?? []).some((capability) => capability === "CAP_SYS_ADMIN")) {
    problems.invalid({
      path,
      value: "",
      detail: "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
    });
  }
}

function validateSysctls(pod: Pod, { path, problems }: Place): void {
  const names = new Set<string>();
  for (const [index, sysctl] of (pod.spec?.securityContext?.sysctls ?? []).entries()) {
    const own = `${path}[${index}].name`;
    if (!sysctl.name) problems.required({ path: own });
    else problems.invalidAll({ path: own, value: sysctl.name, details: sysctlName(sysctl.name) });
    // Slashes and dots are two ways to write one name.
    const key = sysctl.name.replaceAll("/", ".");
    if (names.has(key)) problems.duplicate({ path: own, value: sysctl.name });
    names.add(key);
    const shared =
      (pod.spec?.hostNetwork === true && key.startsWith("net.") && "hostNetwork") ||
      (pod.spec?.hostIPC === true && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(key) && "hostIPC");
    if (shared)
      problems.invalid({ path: own, value: sysctl.name, detail: `may not be specified when '${shared}' is true` });
  }
}

function validateSeccomp(profile: SeccompProfile | undefined, { path, problems }: Place): void {
  if (profile === undefined) return;
  const local = profile.localhostProfile;
  if (!profile.type) problems.required({ path: `${path}.type`, detail: "type is required when seccompProfile is set" });
  else if (!PROFILE_TYPES.includes(profile.type)) {
    problems.unsupported({ path: `${path}.type`, value: profile.type, supported: PROFILE_TYPES });
  }
  if (profile.type === "Localhost" && local === undefined) {
    problems.required({ path: `${path}.localhostProfile`, detail: "must be set when seccomp type is Localhost" });
  } else if (profile.type === "Localhost" && local !== undefined) {
    problems.invalidAll({ path: `${path}.localhostProfile`, value: local, details: descendingPath(local) });
  } else if (local !== undefined) {
    problems.invalid({
      path: `${path}.localhostProfile`,
      value: local,
      detail: "can only be set when seccomp type is Localhost",
    });
  }
}

function validateAppArmor(profile: AppArmorProfile | undefined, { path, problems }: Place): void {
  if (profile === undefined) return;
  const own = `${path}.localhostProfile`;
  const local = profile.localhostProfile;
  if (!profile.type)
    problems.required({ path: `${path}.type`, detail: "type is required when appArmorProfile is set" });
  else if (!PROFILE_TYPES.includes(profile.type)) {
    problems.unsupported({ path: `${path}.type`, value: profile.type, supported: PROFILE_TYPES });
  }
  if (profile.type !== "Localhost") {
    if (local !== undefined)
      problems.invalid({ path: own, value: local, detail: "can only be set when AppArmor type is Localhost" });
  } else if (local === undefined || local === "") {
    problems.required({ path: own, detail: "must be set when AppArmor type is Localhost" });
  } else if (local.trim() !== local) {
    problems.invalid({ path: own, value: local, detail: "must not be padded with whitespace" });
  } else if (local.length > MAX_PROFILE_BYTES) {
    problems.tooLong({ path: own, maxBytes: MAX_PROFILE_BYTES });
  }
}

function validateHostProcess(pod: Pod, { path, problems }: Place): void {
  if (pod.spec?.securityContext?.windowsOptions?.hostProcess === true && pod.spec.hostNetwork !== true) {
    problems.invalid({
      path: `${path}.hostProcess`,
      value: true,
      detail: "hostNetwork must be true if pod contains any hostProcess containers",
    });
  }
}

/** KEP-127: a user namespace of its own goes with no other namespace of the host. */
function validateUserNamespace(pod: Pod, { path, problems }: Place): void {
  const detail = "when `pod.Spec.HostUsers` is false";
  if (pod.spec?.hostNetwork === true) problems.forbidden({ path: `${path}.hostNetwork`, detail });
  if (pod.spec?.hostPID === true) problems.forbidden({ path: `${path}.HostPID`, detail });
  if (pod.spec?.hostIPC === true) problems.forbidden({ path: `${path}.HostIPC`, detail });
}

function validateId(id: Int64 | undefined, { path, problems }: Place): void {
  if (id === undefined || (id >= 0 && id <= MAX_ID)) return;
  problems.invalid({ path, value: id, detail: `must be between 0 and ${MAX_ID}, inclusive` });
}

function word(value: string | undefined, place: Place & { readonly words: readonly string[] }): void {
  if (value !== undefined && !place.words.includes(value)) {
    place.problems.unsupported({ path: place.path, value, supported: place.words });
  }
}
