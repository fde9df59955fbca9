import type { Pod } from "../../api/index.ts";
import { withDeadline } from "../../async/delay.ts";
import type { Decision, DecisionSink, PodRef } from "../../decisions/decision.ts";
import type { ImageManager } from "../../images/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Image } from "../../ports/image-service.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ContainerLogs } from "../../ports/pod-files.ts";
import type { RuntimeService } from "../../ports/runtime-service.ts";
import type { SandboxStatus } from "../../ports/runtime-types.ts";
import type { StartError } from "../../status/status-snapshot.ts";
import { type ObservedPod, servingSandbox } from "../observed-pod.ts";
import type { ContainerKind, PodPlan } from "../pod-plan.ts";
import { Patience } from "./patience.ts";
import type { RequestBuilder, SandboxRequest, TargetSandbox } from "./request-builder.ts";

/** The adapter has deadlines of its own; this one holds if it does not keep them. */
const SPARE_MS = 5000;

/** What steps are carried out with. */
export interface ExecutorParts {
  readonly ports: {
    readonly runtime: RuntimeService;
    readonly containerLogs: ContainerLogs;
    readonly clock: Clock;
    readonly logger: Logger;
  };
  readonly runtimeRequestTimeoutMs: number;
  readonly images: ImageManager;
  readonly requests: RequestBuilder;
  readonly decisions: DecisionSink;
  /** Told of each container's try: an error, or undefined once it started. */
  readonly onStartResult: (podUid: string, containerName: string, error: StartError | undefined) => void;
  /** Told what a sandbox that was just made is like. */
  readonly onSandbox: (podUid: string, status: SandboxStatus) => void;
  /** Told when a sandbox of the pod may appear later although its creation failed here. Awaited before the failure counts. */
  readonly onLateSandbox: (podUid: string) => Promise<void>;
  /** Told when a container that ended before is about to be started again: its back-off grows. */
  readonly onRestart: (request: {
    readonly pod: Pod;
    readonly observed: ObservedPod;
    readonly containerName: string;
  }) => void;
}

/** A plan to carry out, for the pod and the look that it was made from. The signal ends it early. */
export interface ExecutionRequest {
  readonly pod: Pod;
  readonly plan: PodPlan;
  readonly observed: ObservedPod;
  readonly signal: AbortSignal;
  /** There is news of the pod: images that are still being pulled are waited for in the next turn, and nothing else is begun. */
  readonly leave?: AbortSignal;
}

/** Names a container in a decision. */
export interface StepContainer {
  readonly containerName: string;
  readonly containerKind: ContainerKind;
}

/** One plan being carried out: the late inputs that its steps have given so far, and what came of them. */
export class Execution {
  readonly pod: Pod;
  readonly ref: PodRef;
  readonly observed: ObservedPod;
  readonly signal: AbortSignal;
  readonly patience: Patience;
  readonly parts: ExecutorParts;
  readonly images = new Map<string, { readonly imageRef: string; readonly image: Image }>();
  /** What is to be told once an image that was there is used, by container name. */
  readonly presentImages = new Map<string, () => void>();
  readonly created = new Map<string, { readonly containerId: string; readonly restartCount: number }>();
  /** By step id; each resolves when its step ended, whatever came of it. */
  readonly ended: ReadonlyMap<string, PromiseWithResolvers<void>>;
  sandbox: TargetSandbox | undefined;
  /** Some call was made to the runtime. */
  acted = false;
  failed = false;
  /** An image was left while it is still being pulled. */
  left = false;
  retryAtMs: number | undefined;
  /** A step of the plan makes the sandbox. */
  readonly makesSandbox: boolean;
  /** Attempt of the sandbox that the plan makes or uses. */
  readonly #attempt: number;
  /** Containers that the plan makes. */
  readonly #newContainers: readonly string[];
  readonly #directories = new Map<string, Promise<void>>();
  #sandboxRequest: Promise<SandboxRequest> | undefined;

  constructor(parts: ExecutorParts, request: ExecutionRequest) {
    const { uid = "", name = "", namespace = "" } = request.pod.metadata ?? {};
    this.parts = parts;
    this.pod = request.pod;
    this.observed = request.observed;
    this.signal = request.signal;
    this.patience = new Patience({ clock: parts.ports.clock, asked: request.leave });
    this.ref = { uid, name, namespace };
    this.ended = new Map(request.plan.steps.map((step) => [step.id, Promise.withResolvers<void>()]));
    const serving = servingSandbox(request.observed);
    const made = request.plan.steps.find((step) => step.kind === "runSandbox");
    this.makesSandbox = made !== undefined;
    this.#newContainers = request.plan.steps.flatMap((step) =>
      step.kind === "createContainer" ? [step.containerName] : [],
    );
    this.#attempt = made?.attempt ?? serving?.attempt ?? 0;
    this.sandbox = made === undefined && serving !== undefined ? { id: serving.id, ips: serving.ips ?? [] } : undefined;
  }

  /** Calls the runtime with a deadline (the configured one plus `extraMs`) that holds even if the adapter keeps none. */
  async call<T>(
    call: { readonly what: string; readonly extraMs?: number },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.acted = true;
    const timeoutMs = this.parts.runtimeRequestTimeoutMs + (call.extraMs ?? 0) + SPARE_MS;
    try {
      return await withDeadline(
        { clock: this.parts.ports.clock, timeoutMs, what: call.what, parent: this.signal },
        work,
      );
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  /**
   * The sandbox's configuration and runtime handler: built once in an execution, since several steps are told the same, and since building it
   * reads the host's files and may tell decisions.
   */
  sandboxRequest(): Promise<SandboxRequest> {
    this.#sandboxRequest ??= this.parts.requests.sandbox({
      pod: this.pod,
      attempt: this.#attempt,
      signal: this.signal,
    });
    return this.#sandboxRequest;
  }

  /** Makes a container's directories; once in an execution. */
  containerDirectories(containerName: string): Promise<void> {
    const made =
      this.#directories.get(containerName) ??
      this.parts.requests.containerDirectories({ pod: this.pod, containerName, signal: this.signal });
    this.#directories.set(containerName, made);
    return made;
  }

  /** Begins what containers need that does not depend on the sandbox, while that is being made. What fails is told when it is needed. */
  prepareContainers(): void {
    for (const name of this.#newContainers) this.containerDirectories(name).catch(() => undefined);
  }

  /** Resolves once nothing that was begun on the side goes on. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#directories.values());
  }

  /** Something of the plan waits until then. */
  retryAt(atMs: number): void {
    this.retryAtMs = Math.min(this.retryAtMs ?? Number.POSITIVE_INFINITY, atMs);
  }

  decide(decision: Omit<Decision, "pod" | "container" | "containerField">, container?: StepContainer): void {
    this.parts.decisions.record({
      ...decision,
      pod: this.ref,
      ...(container !== undefined && {
        container: container.containerName,
        containerField: CONTAINER_FIELDS[container.containerKind],
      }),
    });
  }

  /** A container could not be brought up: its status shows why, and an event tells (`Error: <text>`). Silent when the pod is on its way out. */
  startFailed(container: StepContainer, error: StartError, eventText = error.message): void {
    this.failed = true;
    if (this.signal.aborted) return;
    this.parts.onStartResult(this.ref.uid, container.containerName, error);
    this.decide(
      {
        action: "start",
        reason: error.reason,
        message: error.message,
        outcome: "failed",
        event: { type: "Warning", reason: "Failed", message: `Error: ${eventText}` },
      },
      container,
    );
  }
}

const CONTAINER_FIELDS = {
  init: "initContainers",
  sidecar: "initContainers",
  regular: "containers",
  ephemeral: "ephemeralContainers",
} as const;
