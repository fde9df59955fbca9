import { NodeletError, type RuntimeStatus, type RuntimeVersion } from "@nodelet/core";
import {
  CgroupDriver,
  type RuntimeConfigResponse,
  type StatusResponse,
  type VersionResponse,
} from "../gen/runtime/v1/api_pb.ts";

/** Name and version of the runtime. Throws `internal` when a field is missing, as upstream's client does. */
export function decodeVersion(message: VersionResponse): RuntimeVersion {
  const { version, runtimeName, runtimeVersion, runtimeApiVersion } = message;
  const missing = Object.entries({ version, runtimeName, runtimeVersion, runtimeApiVersion })
    .filter(([, value]) => value === "")
    .map(([name]) => name);
  if (missing.length > 0) {
    throw new NodeletError("internal", `the runtime's answer to Version lacks ${missing.join(", ")}`);
  }
  return { runtimeName, runtimeVersion, runtimeApiVersion };
}

/** Conditions and features. Throws `internal` without RuntimeReady and NetworkReady. */
export function decodeStatus(message: StatusResponse): RuntimeStatus {
  const conditions = message.status?.conditions ?? [];
  const missing = ["RuntimeReady", "NetworkReady"].filter(
    (type) => !conditions.some((condition) => condition.type === type),
  );
  if (missing.length > 0) {
    throw new NodeletError("internal", `the runtime's status lacks the condition ${missing.join(" and ")}`);
  }
  return {
    conditions: conditions.map(({ type, status, reason, message: text }) => ({ type, status, reason, message: text })),
    handlers: message.runtimeHandlers.map(({ name, features }) => ({
      name,
      recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
      userNamespaces: features?.userNamespaces ?? false,
    })),
    supplementalGroupsPolicy: message.features?.supplementalGroupsPolicy ?? false,
    userNamespacesHostNetwork: message.features?.userNamespacesHostNetwork ?? false,
  };
}

/** The cgroup driver that the runtime was set up with; undefined when it names none. */
export function decodeCgroupDriver(message: RuntimeConfigResponse): "systemd" | "cgroupfs" | undefined {
  switch (message.linux?.cgroupDriver) {
    case CgroupDriver.SYSTEMD:
      return "systemd";
    case CgroupDriver.CGROUPFS:
      return "cgroupfs";
    default:
      return undefined;
  }
}
