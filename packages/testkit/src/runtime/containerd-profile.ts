import type { RuntimeHandler } from "@nodelet/core";

/** Which containerd an in-memory runtime is like. */
export type ContainerdRelease = "1.6" | "2.1";

/** Where the two releases differ as a client sees them. */
export interface ContainerdProfile {
  readonly runtimeVersion: string;
  readonly containerEvents: boolean;
  readonly cgroupDriver: "cgroupfs" | undefined;
  /** Handlers that the runtime has without configuration; the older release does not list them. */
  readonly handlers: readonly RuntimeHandler[];
  readonly supplementalGroupsPolicy: boolean;
  /** Whether a container's status tells its user. */
  readonly tellsUser: boolean;
  /** Whether a container may be made in a sandbox that is NOTREADY; it cannot be started in either release. */
  readonly createsInStoppedSandbox: boolean;
  /** Added to the error of a process that could not be started. */
  readonly startErrorSuffix: string;
  /** Said between a container's reserved name and who has it. */
  readonly reservedHint: string;
  readonly absentImagePrefix: string;
  /** The words before "no runtime for ... is configured". */
  readonly unknownHandlerPrefix: (sandboxId: string) => string;
}

const handler = (name: string): RuntimeHandler => ({ name, recursiveReadOnlyMounts: true, userNamespaces: false });

const CONTAINERD_1_6: ContainerdProfile = {
  runtimeVersion: "1.6.20~ds1",
  containerEvents: false,
  cgroupDriver: undefined,
  handlers: [],
  supplementalGroupsPolicy: false,
  tellsUser: false,
  createsInStoppedSandbox: false,
  startErrorSuffix: ": unknown",
  reservedHint: "",
  absentImagePrefix: "",
  unknownHandlerPrefix: () => "failed to get sandbox runtime",
};

const CONTAINERD_2_1: ContainerdProfile = {
  runtimeVersion: "2.1.9+unknown",
  containerEvents: true,
  cgroupDriver: "cgroupfs",
  handlers: [handler(""), handler("runc")],
  supplementalGroupsPolicy: true,
  tellsUser: true,
  createsInStoppedSandbox: true,
  startErrorSuffix: "",
  reservedHint: "; check if another CreateContainer request is in progress",
  absentImagePrefix: "failed to check if this is a checkpoint image: ",
  unknownHandlerPrefix: (sandboxId) => `unable to get OCI runtime for sandbox "${sandboxId}"`,
};

/** What was observed of Debian's containerd 1.6.20 and 2.1.9 with runc 1.1.5. */
export function containerdProfile(release: ContainerdRelease): ContainerdProfile {
  return release === "1.6" ? CONTAINERD_1_6 : CONTAINERD_2_1;
}
