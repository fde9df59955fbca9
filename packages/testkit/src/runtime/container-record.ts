import type {
  ContainerConfig,
  ContainerMetadata,
  ContainerSummary,
  CriContainerState,
  CriContainerStatus,
  LinuxContainerResources,
  SandboxConfig,
  SandboxMetadata,
} from "@nodelet/core";
import type { StoredImage } from "../images/stored-image.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** The part of a container that changes in its life. */
export interface ContainerLife {
  readonly state: CriContainerState;
  readonly startedAtNs: bigint;
  readonly finishedAtNs: bigint;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

const CREATED: ContainerLife = {
  state: "CONTAINER_CREATED",
  startedAtNs: 0n,
  finishedAtNs: 0n,
  exitCode: 0,
  reason: "",
  message: "",
};

/** A container as the in-memory runtime keeps it. */
export class ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
  readonly image: StoredImage;
  readonly createdAtNs: bigint;
  process: SimulatedProcess | undefined;
  /** The stop signal is sent once in a container's life; later stops only wait and kill, as in containerd. */
  stopSignalled = false;
  starting = false;
  /** Called when it exits. */
  readonly exitWaiters = new Set<() => void>();
  #life: ContainerLife = CREATED;
  #summary: ContainerSummary | undefined;
  readonly #statuses = new Map<boolean, CriContainerStatus>();

  constructor(made: {
    readonly id: string;
    readonly sandboxId: string;
    readonly config: ContainerConfig;
    readonly sandboxConfig: SandboxConfig;
    readonly image: StoredImage;
    readonly createdAtNs: bigint;
  }) {
    this.id = made.id;
    this.sandboxId = made.sandboxId;
    this.config = made.config;
    this.sandboxConfig = made.sandboxConfig;
    this.image = made.image;
    this.createdAtNs = made.createdAtNs;
  }

  get state(): CriContainerState {
    return this.#life.state;
  }

  get life(): ContainerLife {
    return this.#life;
  }

  change(change: Partial<ContainerLife>): void {
    this.#life = { ...this.#life, ...change };
    this.#summary = undefined;
    this.#statuses.clear();
  }

  /** Absolute path of its log; empty when the request asked for none. */
  get logPath(): string {
    const { logDirectory = "" } = this.sandboxConfig;
    const { logPath = "" } = this.config;
    return logDirectory === "" || logPath === "" ? "" : `${logDirectory.replace(/\/+$/, "")}/${logPath}`;
  }

  /** A row of a list; the same object until something changes. */
  summary(): ContainerSummary {
    this.#summary ??= {
      id: this.id,
      sandboxId: this.sandboxId,
      metadata: this.config.metadata,
      image: this.config.image,
      imageRef: this.image.id,
      imageId: "",
      state: this.state,
      createdAtNs: this.createdAtNs,
      labels: this.config.labels ?? {},
      annotations: this.config.annotations ?? {},
    };
    return this.#summary;
  }

  /** The full status; the same object until something changes. Whether the runtime tells the user is the caller's to say. */
  status(options: { readonly tellsUser: boolean }): CriContainerStatus {
    const known = this.#statuses.get(options.tellsUser);
    if (known !== undefined) return known;
    const status = this.#makeStatus(options.tellsUser);
    this.#statuses.set(options.tellsUser, status);
    return status;
  }

  #makeStatus(tellsUser: boolean): CriContainerStatus {
    const { state, startedAtNs, finishedAtNs, exitCode, reason, message } = this.#life;
    const { config, image } = this;
    const exited = state === "CONTAINER_EXITED";
    const resources = toldResources(config.linux?.resources);
    return {
      id: this.id,
      metadata: config.metadata,
      state,
      createdAtNs: this.createdAtNs,
      startedAtNs,
      finishedAtNs,
      exitCode,
      image: image.repoTags[0] === undefined ? config.image : { image: image.repoTags[0] },
      imageRef: image.repoDigests[0] ?? image.id,
      imageId: "",
      reason: exited && reason === "" ? (exitCode === 0 ? "Completed" : "Error") : reason,
      message,
      labels: config.labels ?? {},
      annotations: config.annotations ?? {},
      mounts: config.mounts ?? [],
      logPath: this.logPath,
      ...(tellsUser ? { user: containerUser(this) } : {}),
      ...(resources === undefined ? {} : { resources }),
    };
  }
}

/** Resources as they took effect: a memory limit alone also limits memory and swap together. */
function toldResources(asked: LinuxContainerResources | undefined): LinuxContainerResources | undefined {
  const memory = asked?.memoryLimitInBytes ?? 0n;
  if (memory === 0n || (asked?.memorySwapLimitInBytes ?? 0n) !== 0n) return asked;
  return { ...asked, memorySwapLimitInBytes: memory };
}

/** Without a group of its own, the user's primary group in the image; all groups together, each once, in ascending order. */
function containerUser(container: ContainerRecord): NonNullable<CriContainerStatus["user"]> {
  const security = container.config.linux?.securityContext;
  const uid = security?.runAsUser ?? container.image.uid ?? 0n;
  const gid = security?.runAsGroup ?? container.image.primaryGroups?.get(uid) ?? 0n;
  const groups = [...new Set([gid, ...(security?.supplementalGroups ?? [])])];
  return { uid, gid, supplementalGroups: groups.sort((left, right) => (left < right ? -1 : 1)) };
}

/** The name under which containerd reserves a container: it holds the pod's attempt of neither sandbox nor image. */
export function containerName(names: {
  readonly container: ContainerMetadata;
  readonly sandbox: SandboxMetadata;
}): string {
  const { container, sandbox } = names;
  return [container.name, sandbox.name, sandbox.namespace, sandbox.uid, container.attempt].join("_");
}
