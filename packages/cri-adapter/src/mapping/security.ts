import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  IdMapping,
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  NamespaceOption,
  SecurityProfile,
  SelinuxOption,
} from "@nodelet/core";
import type {
  IDMappingSchema,
  LinuxContainerSecurityContextSchema,
  LinuxSandboxSecurityContextSchema,
  NamespaceOption as NamespaceOptionMessage,
  NamespaceOptionSchema,
  SecurityProfileSchema,
} from "../gen/runtime/v1/api_pb.ts";
import { decodeNamespaceMode, encodeGroupsPolicy, encodeNamespaceMode, encodeProfileType } from "./enums.ts";

/** Security settings of a sandbox. */
export function encodeSandboxSecurity(
  context: LinuxSandboxSecurityContext,
): MessageInitShape<typeof LinuxSandboxSecurityContextSchema> {
  return { ...encodeCommon(context), readonlyRootfs: context.readonlyRootfs, privileged: context.privileged };
}

/** Security settings of a container. */
export function encodeContainerSecurity(
  context: LinuxContainerSecurityContext,
): MessageInitShape<typeof LinuxContainerSecurityContextSchema> {
  const { capabilities } = context;
  return {
    ...encodeCommon(context),
    capabilities: capabilities && {
      addCapabilities: mutable(capabilities.addCapabilities),
      dropCapabilities: mutable(capabilities.dropCapabilities),
      addAmbientCapabilities: mutable(capabilities.addAmbientCapabilities),
    },
    privileged: context.privileged,
    runAsUsername: context.runAsUsername,
    readonlyRootfs: context.readonlyRootfs,
    noNewPrivs: context.noNewPrivs,
    maskedPaths: mutable(context.maskedPaths),
    readonlyPaths: mutable(context.readonlyPaths),
  };
}

/** What sandboxes and containers have in common. A uid or gid of 0 is sent as a set value: it is root, not unset. */
function encodeCommon(context: LinuxSandboxSecurityContext | LinuxContainerSecurityContext) {
  return {
    namespaceOptions: context.namespaceOptions && encodeNamespaceOption(context.namespaceOptions),
    selinuxOptions: context.selinuxOptions && encodeSelinux(context.selinuxOptions),
    runAsUser: context.runAsUser === undefined ? undefined : { value: context.runAsUser },
    runAsGroup: context.runAsGroup === undefined ? undefined : { value: context.runAsGroup },
    supplementalGroups: mutable(context.supplementalGroups),
    supplementalGroupsPolicy: encodeGroupsPolicy(context.supplementalGroupsPolicy),
    seccomp: context.seccomp && encodeProfile(context.seccomp),
    apparmor: context.apparmor && encodeProfile(context.apparmor),
  };
}

/** The encoder only reads lists; the generated types just do not say so. */
export function mutable<T>(list: readonly T[] | undefined): T[] | undefined {
  return list as T[] | undefined;
}

function encodeSelinux({ user, role, type, level }: SelinuxOption) {
  return { user, role, type, level };
}

function encodeProfile(profile: SecurityProfile): MessageInitShape<typeof SecurityProfileSchema> {
  return { profileType: encodeProfileType(profile.profileType), localhostRef: profile.localhostRef };
}

/** Namespaces of a sandbox or container. */
function encodeNamespaceOption(option: NamespaceOption): MessageInitShape<typeof NamespaceOptionSchema> {
  const { usernsOptions } = option;
  return {
    network: encodeNamespaceMode(option.network),
    pid: encodeNamespaceMode(option.pid),
    ipc: encodeNamespaceMode(option.ipc),
    targetId: option.targetId,
    usernsOptions: usernsOptions && {
      mode: encodeNamespaceMode(usernsOptions.mode),
      uids: encodeIdMappings(usernsOptions.uids),
      gids: encodeIdMappings(usernsOptions.gids),
    },
  };
}

/** Namespaces as the runtime reports them. */
export function decodeNamespaceOption(message: NamespaceOptionMessage): NamespaceOption {
  const { usernsOptions } = message;
  return {
    network: decodeNamespaceMode(message.network),
    pid: decodeNamespaceMode(message.pid),
    ipc: decodeNamespaceMode(message.ipc),
    targetId: message.targetId,
    usernsOptions: usernsOptions && {
      mode: decodeNamespaceMode(usernsOptions.mode),
      uids: decodeIdMappings(usernsOptions.uids),
      gids: decodeIdMappings(usernsOptions.gids),
    },
  };
}

/** Runs of ids. */
export function encodeIdMappings(
  mappings: readonly IdMapping[] | undefined,
): MessageInitShape<typeof IDMappingSchema>[] | undefined {
  return mappings?.map(({ hostId, containerId, length }) => ({ hostId, containerId, length }));
}

/** Runs of ids as the runtime reports them. */
export function decodeIdMappings(messages: readonly IdMapping[]): IdMapping[] {
  return messages.map(({ hostId, containerId, length }) => ({ hostId, containerId, length }));
}
