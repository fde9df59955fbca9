import {
  type AppArmorProfile,
  type Container,
  type EphemeralContainer,
  type Int64,
  int64ToBigInt,
  type Pod,
  type PodSecurityContext,
  type SELinuxOptions,
  type SeccompProfile,
  type SecurityContext,
} from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { LinuxContainerSecurityContext, SecurityProfile, SelinuxOption } from "../../ports/runtime-types.ts";
import { goQuote } from "../../text/go-quote.ts";
import type { ImageUser } from "./image-user.ts";
import { namespaceOptions } from "./namespaces.ts";
import type { ContainerRequestContext } from "./request-context.ts";

/** Paths under /proc and /sys that tell of the host or reach it, hidden from containers. */
const MASKED_PATHS: readonly string[] = [
  "/proc/asound",
  "/proc/acpi",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
];
const READONLY_PATHS: readonly string[] = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];
const APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";

/** A container's security context with what it takes over from the pod's. */
export type EffectiveSecurity = Omit<SecurityContext, "windowsOptions">;

/** The container's own fields, else the pod's; SELinux options are taken as a whole. */
export function effectiveSecurity(pod: Pod, container: Container | EphemeralContainer): EffectiveSecurity {
  const shared: PodSecurityContext = pod.spec?.securityContext ?? {};
  const own = container.securityContext ?? {};
  const inherited = {
    runAsUser: own.runAsUser ?? shared.runAsUser,
    runAsGroup: own.runAsGroup ?? shared.runAsGroup,
    runAsNonRoot: own.runAsNonRoot ?? shared.runAsNonRoot,
    seLinuxOptions: own.seLinuxOptions ?? shared.seLinuxOptions,
  };
  const given = Object.entries(inherited).filter(([, value]) => value !== undefined);
  return { ...own, ...Object.fromEntries(given) };
}

/** The security context of a container for the runtime. Throws for profiles and policies that name nothing known. */
export function containerSecurityContext(
  context: Pick<
    ContainerRequestContext,
    "pod" | "container" | "node" | "imageUser" | "targetContainerId" | "runtimeHandler" | "userNamespace"
  >,
): LinuxContainerSecurityContext {
  const { pod, container } = context;
  const security = effectiveSecurity(pod, container);
  const options = namespaceOptions(context);
  const target = context.targetContainerId;
  const apparmor = appArmorProfile(pod, container);
  const unmasked = security.procMount === "Unmasked";
  return {
    ...(security.capabilities === undefined
      ? {}
      : {
          capabilities: {
            addCapabilities: security.capabilities.add ?? [],
            dropCapabilities: security.capabilities.drop ?? [],
          },
        }),
    privileged: security.privileged === true,
    namespaceOptions: target === undefined ? options : { ...options, pid: "TARGET", targetId: target },
    ...selinux(security.seLinuxOptions),
    ...runAs({ security, imageUser: context.imageUser }),
    readonlyRootfs: security.readOnlyRootFilesystem === true,
    ...podGroups(pod),
    noNewPrivs: security.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : MASKED_PATHS,
    readonlyPaths: unmasked ? [] : READONLY_PATHS,
    seccomp: seccompProfile(context),
    ...(apparmor === undefined ? {} : { apparmor }),
  };
}

/** fsGroup, then supplementalGroups, and how they join the image's groups (KEP-3619). The same for sandbox and containers. */
export function podGroups(
  pod: Pod,
): Pick<LinuxContainerSecurityContext, "supplementalGroups" | "supplementalGroupsPolicy"> {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy: policy } = pod.spec?.securityContext ?? {};
  const groups = [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups].map(int64ToBigInt);
  if (policy !== undefined && policy !== "Merge" && policy !== "Strict") {
    throw new NodeletError("invalid", `unsupported supplementalGroupsPolicy: ${policy}`);
  }
  return {
    ...(groups.length === 0 ? {} : { supplementalGroups: groups }),
    ...(policy === undefined ? {} : { supplementalGroupsPolicy: policy }),
  };
}

/** SELinux options as the runtime takes them; nothing when there are none. */
export function selinux(options: SELinuxOptions | undefined): { readonly selinuxOptions?: SelinuxOption } {
  if (options === undefined) return {};
  const { user = "", role = "", type = "", level = "" } = options;
  return { selinuxOptions: { user, role, type, level } };
}

function runAs(options: {
  readonly security: EffectiveSecurity;
  readonly imageUser: ImageUser;
}): Pick<LinuxContainerSecurityContext, "runAsUser" | "runAsGroup" | "runAsUsername"> {
  const { security, imageUser: user } = options;
  const group = optional("runAsGroup", security.runAsGroup);
  if (security.runAsUser !== undefined) return { runAsUser: int64ToBigInt(security.runAsUser), ...group };
  return user.uid === undefined ? { runAsUsername: user.username, ...group } : { runAsUser: user.uid, ...group };
}

function optional<K extends string>(key: K, value: Int64 | undefined): { readonly [P in K]?: bigint } {
  return (value === undefined ? {} : { [key]: int64ToBigInt(value) }) as { readonly [P in K]?: bigint };
}

function seccompProfile(context: Pick<ContainerRequestContext, "pod" | "container" | "node">): SecurityProfile {
  const { config } = context.node;
  const profile: SeccompProfile | undefined =
    context.container.securityContext?.seccompProfile ?? context.pod.spec?.securityContext?.seccompProfile;
  if (profile === undefined) return { profileType: config.seccompDefault ? "RuntimeDefault" : "Unconfined" };
  if (profile.type === "RuntimeDefault") return { profileType: "RuntimeDefault" };
  if (profile.type !== "Localhost") return { profileType: "Unconfined" };
  const name = profile.localhostProfile ?? "";
  if (name === "") {
    throw new NodeletError("invalid", "localhostProfile must be set if seccompProfile type is Localhost.");
  }
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (name.startsWith("/") || parts.includes("..")) {
    const rule = 'a relative path below the seccomp directory, without ".."';
    throw new NodeletError("invalid", `localhostProfile ${goQuote(name)}: expected ${rule}`);
  }
  return {
    profileType: "Localhost",
    localhostRef: `${config.rootDir.replace(/\/+$/, "")}/seccomp/${parts.join("/")}`,
  };
}

function appArmorProfile(pod: Pod, container: Container | EphemeralContainer): SecurityProfile | undefined {
  const profile =
    container.securityContext?.appArmorProfile ??
    appArmorAnnotation(pod, container.name) ??
    pod.spec?.securityContext?.appArmorProfile;
  if (profile === undefined) return undefined;
  const { type, localhostProfile } = profile;
  if (type === "RuntimeDefault" || type === "Unconfined") return { profileType: type };
  if (type !== "Localhost") throw new NodeletError("invalid", `unknown apparmor profile type: ${goQuote(type)}`);
  if (localhostProfile === undefined) throw new NodeletError("invalid", "missing localhost apparmor profile name");
  return { profileType: "Localhost", localhostRef: localhostProfile };
}

/** Manifests from files may still use the annotation: nothing has turned it into the field. */
function appArmorAnnotation(pod: Pod, containerName: string): AppArmorProfile | undefined {
  const annotations = pod.metadata?.annotations ?? {};
  const key = APPARMOR_ANNOTATION + containerName;
  const value = Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value?.startsWith("localhost/") === true
    ? { type: "Localhost", localhostProfile: value.slice("localhost/".length) }
    : undefined;
}
