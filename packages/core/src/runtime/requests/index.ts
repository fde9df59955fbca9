export { buildContainerConfig } from "./container-config.ts";
export { DNS_LIMITS, type PodDns, podDns } from "./dns.ts";
export { hostsFileContent } from "./hosts-file.ts";
export { type ImageUser, imageUser } from "./image-user.ts";
export { ANNOTATIONS, containerLogPath, crashBackOffKey, LABELS, logLinkName, podLogDirectory } from "./names.ts";
export {
  type ObjectLookup,
  type ObjectReference,
  objectKey,
  objectReferences,
  type PrefetchedObjects,
  prefetchObjects,
} from "./object-references.ts";
export { effectivePodIps, orderPodIps } from "./pod-ips.ts";
export {
  type ContainerRequestContext,
  type NodeContext,
  type PodRequestContext,
  type SandboxRequestContext,
} from "./request-context.ts";
export { parseResolvConf, type ResolvConf } from "./resolv-conf.ts";
export { type BuiltSandbox, buildSandboxConfig } from "./sandbox-config.ts";
