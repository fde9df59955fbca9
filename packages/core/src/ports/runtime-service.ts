import type {
  ContainerConfig,
  ContainerEvent,
  ContainerSummary,
  CriContainerState,
  CriContainerStatus,
  RuntimeStatus,
  RuntimeVersion,
  SandboxConfig,
  SandboxState,
  SandboxStatus,
  SandboxSummary,
  StringMap,
} from "./runtime-types.ts";

/** Every call can be cancelled. A cancelled call that changes something has an unknown outcome. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * What the runtime behind a RuntimeService can do beyond the calls that every CRI v1 runtime has. Found out once (by asking, and by an
 * Unimplemented answer), never guessed from a version.
 */
export interface RuntimeCapabilities {
  readonly containerEvents: boolean;
  readonly streamedLists: boolean;
  /** Absent when the runtime does not tell its cgroup driver. */
  readonly cgroupDriver?: "systemd" | "cgroupfs";
  readonly updatePodSandboxResources: boolean;
  readonly metrics: boolean;
}

/** Who the runtime is and how it is. Reads only: safe to repeat. */
export interface RuntimeInfo {
  /** Capabilities, asked for at the first call and remembered. */
  capabilities(options?: CallOptions): Promise<RuntimeCapabilities>;
  version(options?: CallOptions): Promise<RuntimeVersion>;
  status(options?: CallOptions): Promise<RuntimeStatus>;
}

/**
 * Pod sandboxes. A sandbox is made READY by `runSandbox`, becomes NOTREADY by `stopSandbox` or by itself (its process died, the machine
 * restarted), and is gone after `removeSandbox`.
 */
export interface Sandboxes {
  /**
   * Makes and starts a sandbox; answers its id. `alreadyExists` when (name, namespace, uid, attempt) is taken.
   * `unknownOutcome` when it ran out of time: it may appear later under the same metadata.
   */
  runSandbox(
    request: { readonly config: SandboxConfig; readonly runtimeHandler: string } & CallOptions,
  ): Promise<string>;
  /** Stops the sandbox and kills what still runs in it, frees its network. Idempotent; an unknown id is success. */
  stopSandbox(request: { readonly sandboxId: string } & CallOptions): Promise<void>;
  /** Removes the sandbox and its containers, killing what runs. Idempotent; an unknown id is success. */
  removeSandbox(request: { readonly sandboxId: string } & CallOptions): Promise<void>;
  /** `notFound` when it does not exist. */
  sandboxStatus(request: { readonly sandboxId: string } & CallOptions): Promise<SandboxStatus>;
  /** All sandboxes that match every given filter. Order is not defined. */
  listSandboxes(
    request?: { readonly id?: string; readonly state?: SandboxState; readonly labels?: StringMap } & CallOptions,
  ): Promise<readonly SandboxSummary[]>;
}

/** Containers in sandboxes: CREATED by `createContainer`, RUNNING by `startContainer`, EXITED when the process ended, gone after removal. */
export interface Containers {
  /**
   * Makes a container in a READY sandbox; answers its id. `notFound`-like failures of the sandbox come as `internal` or `notFound`.
   * `alreadyExists` when (sandbox, name, attempt) is taken ("name is reserved").
   */
  createContainer(
    request: {
      readonly sandboxId: string;
      readonly config: ContainerConfig;
      readonly sandboxConfig: SandboxConfig;
    } & CallOptions,
  ): Promise<string>;
  /** Starts a CREATED container. A failure leaves it EXITED with reason StartError (exit code 128) or CREATED, as the runtime does. */
  startContainer(request: { readonly containerId: string } & CallOptions): Promise<void>;
  /**
   * Sends the stop signal, waits up to `timeoutSeconds`, then kills. Resolves once it exited. Idempotent: an exited or unknown container is
   * success. The call's own deadline is the timeout plus the adapter's request timeout.
   */
  stopContainer(
    request: { readonly containerId: string; readonly timeoutSeconds: number } & CallOptions,
  ): Promise<void>;
  /** Removes the container, killing it if it runs. Keeps its log. Idempotent; an unknown id is success. */
  removeContainer(request: { readonly containerId: string } & CallOptions): Promise<void>;
  /** `notFound` when it does not exist. */
  containerStatus(request: { readonly containerId: string } & CallOptions): Promise<CriContainerStatus>;
  /** All containers that match every given filter, exited ones included. Order is not defined. */
  listContainers(
    request?: {
      readonly id?: string;
      readonly sandboxId?: string;
      readonly state?: CriContainerState;
      readonly labels?: StringMap;
    } & CallOptions,
  ): Promise<readonly ContainerSummary[]>;
}

/** The runtime's own event stream. Events are hints: they may be lost, doubled or late, and never replace a look. */
export interface ContainerEvents {
  /**
   * Calls `onEvent` for each event until the signal fires (then resolves) or the stream breaks (then rejects, `unavailable`).
   * `unsupported` when the runtime has none. No deadline.
   */
  watchContainerEvents(request: {
    readonly onEvent: (event: ContainerEvent) => void;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

/** The container runtime as core needs it. Implemented by @nodelet/cri-adapter over CRI v1 and by testkit's in-memory runtime. */
export interface RuntimeService extends RuntimeInfo, Sandboxes, Containers, ContainerEvents {}
