import { type Clock, type ContainerConfig, NodeletError, type SandboxConfig } from "@nodelet/core";
import type { StoredImage } from "../images/stored-image.ts";
import type { ContainerOutput } from "./container-output.ts";
import { ContainerRecord, containerName } from "./container-record.ts";
import type { ProcessInfo, ProcessPlan } from "./program.ts";
import type { RuntimeStore } from "./runtime-store.ts";
import type { SandboxRecord } from "./sandbox-record.ts";
import { type ProcessEnd, SimulatedProcess } from "./simulated-process.ts";

/** A container whose name is taken and that nobody sees yet. */
export interface ContainerReservation {
  readonly id: string;
  readonly name: string;
  readonly sandbox: SandboxRecord;
}

/** What a createContainer call asks for. */
export interface ContainerRequest {
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
}

/** containerd's words around runc's for a process that could not be started. */
const START_ERROR_PREFIX =
  "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: " +
  "unable to start container process: ";

/** Takes the name of a container that is to be made. `notFound` without its sandbox, `alreadyExists` when the name is taken. */
export function reserveContainer(store: RuntimeStore, request: ContainerRequest): ContainerReservation {
  const sandbox = store.sandboxes.get(request.sandboxId);
  if (sandbox === undefined) {
    throw new NodeletError("notFound", `failed to find sandbox id "${request.sandboxId}": not found`);
  }
  if (sandbox.state !== "SANDBOX_READY" && !store.profile.createsInStoppedSandbox) {
    throw new NodeletError(
      "notFound",
      `failed to get sandbox container task: no running task found: task ${sandbox.id} not found: not found`,
    );
  }
  const name = containerName({ container: request.config.metadata, sandbox: request.sandboxConfig.metadata });
  const reservation = { id: store.newId(), name, sandbox };
  store.containerNames.reserve(reservation);
  return reservation;
}

/** Makes the container: CREATED. On failure the name is free again. */
export function makeContainer(
  store: RuntimeStore,
  made: {
    readonly reservation: ContainerReservation;
    readonly request: ContainerRequest;
    readonly image: StoredImage | undefined;
  },
): string {
  const { reservation, request, image } = made;
  const { config, sandboxConfig } = request;
  try {
    if (!store.sandboxes.has(reservation.sandbox.id)) {
      throw new NodeletError("notFound", `failed to find sandbox id "${reservation.sandbox.id}": not found`);
    }
    if (image === undefined) {
      const prefix = store.profile.absentImagePrefix;
      throw new NodeletError("notFound", `${prefix}failed to resolve image "${config.image.image}": not found`);
    }
    if (argvOf(config, image).length === 0) {
      const detail = "failed to apply OCI options: no command specified";
      throw new NodeletError("internal", `failed to generate container "${reservation.id}" spec: ${detail}`);
    }
    const container = new ContainerRecord({
      id: reservation.id,
      sandboxId: reservation.sandbox.id,
      config,
      sandboxConfig,
      image,
      createdAtNs: store.stampNs(),
    });
    store.addContainer(container);
    return container.id;
  } catch (error) {
    store.containerNames.release(reservation.name);
    throw error;
  }
}

/** What starting a container needs beside the store. */
export interface StartSurroundings {
  readonly clock: Clock;
  readonly output: ContainerOutput;
  readonly program: (process: ProcessInfo) => ProcessPlan;
}

/** The container, when it may be started: `notFound` when it is gone, `internal` when it is not CREATED. */
export function containerToStart(store: RuntimeStore, containerId: string): ContainerRecord {
  const container = store.containers.get(containerId);
  if (container === undefined) {
    throw new NodeletError("notFound", `an error occurred when try to find container "${containerId}": not found`);
  }
  const refused = (why: string) =>
    new NodeletError("internal", `failed to set starting state for container "${containerId}": container is ${why}`);
  if (container.state !== "CONTAINER_CREATED") throw refused(`in ${container.state} state`);
  if (container.starting) throw refused("already in starting state");
  return container;
}

/** Starts the process. A failure leaves the container EXITED with reason StartError, exit code 128 and no start time. */
export function startContainer(store: RuntimeStore, containerId: string, around: StartSurroundings): void {
  const container = containerToStart(store, containerId);
  const sandbox = store.sandboxes.get(container.sandboxId);
  if (sandbox?.state !== "SANDBOX_READY") {
    throw startFailed(store, container, `sandbox container "${container.sandboxId}" is not running`);
  }
  if (container.logPath !== "") around.output.openLog({ path: container.logPath });
  const plan = around.program(processInfo(container, sandbox));
  if (plan.startError !== undefined) {
    throw startFailed(store, container, `${START_ERROR_PREFIX}${plan.startError}${store.profile.startErrorSuffix}`);
  }

  store.changeContainer(container, { state: "CONTAINER_RUNNING", startedAtNs: store.stampNs() });
  container.process = new SimulatedProcess({
    plan,
    clock: around.clock,
    onOutput: ({ stream, text }) => {
      const path = container.logPath;
      if (path !== "") around.output.writeLog({ path, atNs: store.stampNs(), stream, text });
    },
    onEnd: (end) => {
      if (end.orderly && plan.terminationMessage !== undefined) {
        writeTerminationMessage(container, plan.terminationMessage, around.output);
      }
      exited(store, container, end);
    },
  });
}

/** Kills what runs in a container; does nothing to one that does not run. */
export function killContainer(store: RuntimeStore, containerId: string): void {
  const container = store.containers.get(containerId);
  if (container?.state === "CONTAINER_RUNNING") container.process?.kill();
}

/** Takes a container out of the store and frees its name; kills it first when it runs. */
export function releaseContainer(
  store: RuntimeStore,
  container: ContainerRecord,
  options: { readonly silent: boolean } = { silent: false },
): void {
  if (options.silent) container.process?.vanish();
  else killContainer(store, container.id);
  store.removeContainer(container, options);
  store.containerNames.release(
    containerName({ container: container.config.metadata, sandbox: container.sandboxConfig.metadata }),
  );
}

/** The container is found EXITED with exit code 255 and reason Unknown: its process was lost while nobody watched. */
export function loseProcess(store: RuntimeStore, container: ContainerRecord): void {
  if (container.state !== "CONTAINER_RUNNING") return;
  container.process?.vanish();
  exited(store, container, { exitCode: 255, reason: "Unknown", orderly: false });
}

function exited(store: RuntimeStore, container: ContainerRecord, end: ProcessEnd): void {
  store.changeContainer(container, {
    state: "CONTAINER_EXITED",
    finishedAtNs: store.stampNs(),
    exitCode: end.exitCode,
    reason: end.reason,
  });
}

function startFailed(store: RuntimeStore, container: ContainerRecord, message: string): NodeletError {
  store.changeContainer(container, {
    state: "CONTAINER_EXITED",
    finishedAtNs: store.stampNs(),
    exitCode: 128,
    reason: "StartError",
    message,
  });
  return new NodeletError("internal", message);
}

/** Docker's rule: a command of its own drops the image's arguments too. */
function argvOf(config: ContainerConfig, image: StoredImage): readonly string[] {
  const command = config.command ?? [];
  const args = config.args ?? [];
  if (command.length > 0) return [...command, ...args];
  return [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
}

function processInfo(container: ContainerRecord, sandbox: SandboxRecord): ProcessInfo {
  const { config, sandboxConfig, image } = container;
  const pidMode = config.linux?.securityContext?.namespaceOptions?.pid ?? "POD";
  const sandboxPid = sandbox.config.linux?.securityContext?.namespaceOptions?.pid ?? "POD";
  return {
    argv: argvOf(config, image),
    env: Object.fromEntries((config.envs ?? []).map(({ key, value }) => [key, value])),
    image,
    containerId: container.id,
    containerName: config.metadata.name,
    attempt: config.metadata.attempt,
    podName: sandboxConfig.metadata.name,
    podNamespace: sandboxConfig.metadata.namespace,
    podUid: sandboxConfig.metadata.uid,
    isPid1: pidMode === "CONTAINER" && sandboxPid !== "NODE",
  };
}

function writeTerminationMessage(container: ContainerRecord, content: string, output: ContainerOutput): void {
  const path =
    container.config.annotations?.["io.kubernetes.container.terminationMessagePath"] ?? "/dev/termination-log";
  const mount = container.config.mounts?.find(({ containerPath }) => containerPath === path);
  if (mount?.hostPath !== undefined) output.writeFile({ path: mount.hostPath, content });
}
