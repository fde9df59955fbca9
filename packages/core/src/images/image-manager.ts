import { type Container, type EphemeralContainer, findContainer, type Pod } from "../api/index.ts";
import { BackOff, type BackOffRecord } from "../backoff/index.ts";
import type { Decision, DecisionSink } from "../decisions/decision.ts";
import { NodeletError } from "../errors/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Image, ImageService } from "../ports/image-service.ts";
import type { ImageSpec, SandboxConfig } from "../ports/runtime-types.ts";
import { goDuration } from "../text/go-duration.ts";
import { goQuote } from "../text/go-quote.ts";
import { ImagePulls, type PullConfig } from "./image-pulls.ts";
import { OngoingPulls, type PullFor } from "./ongoing-pulls.ts";
import { pullFault } from "./pull-fault.ts";
import { defaultPullPolicy, withDefaultTag } from "./reference.ts";

const BACK_OFF = { initialMs: 10_000, maxMs: 300_000 } as const;

/** What `ensureImage` is asked. */
export interface EnsureImageRequest {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly sandboxConfig: SandboxConfig;
  /** The runtime class's handler; empty for the runtime's default. */
  readonly runtimeHandler?: string;
  /**
   * Is handed the word that the image was there already, instead of it being told at once: for whoever wants it told only when the image is used.
   */
  readonly onPresent?: (tell: () => void) => void;
  /** Ends the pull too. */
  readonly signal?: AbortSignal;
  /** Ends the wait for a pull, which goes on: the same request later finds it, or its outcome. */
  readonly leave?: AbortSignal;
  /** Told when nothing is done any more but waiting for a pull; what it answers is called when that is over. */
  readonly onWait?: () => () => void;
}

/** An image that is there. */
export interface EnsuredImage {
  /** What createContainer is told: the image's id. */
  readonly imageRef: string;
  readonly image: Image;
}

type ImageDecision = Omit<Decision, "action" | "pod" | "container" | "containerField">;

/** One request with what follows from it alone. */
interface Ensuring extends EnsureImageRequest {
  /** As the pod names it: messages and the back-off go by it. */
  readonly requested: string;
  readonly spec: ImageSpec;
  readonly decide: (decision: ImageDecision) => void;
}

/**
 * Sees to it that a container's image is there, by its pull policy, with back-off after failures (10 s doubling to 5 min, a pod and image).
 * Tells the kubelet's events as decisions; the event `Error: <reason>` is the caller's, since it knows what failed with the image.
 */
export class ImageManager {
  readonly #images: ImageService;
  readonly #clock: Clock;
  readonly #decisions: DecisionSink;
  readonly #pulls: ImagePulls;
  readonly #ongoing: OngoingPulls<EnsuredImage>;
  readonly #backOff: BackOff;
  /** `<reason>: <message>` of the failure that a back-off comes from, by back-off key. */
  readonly #failures = new Map<string, string>();

  constructor(options: {
    readonly config: PullConfig;
    readonly ports: { readonly images: ImageService; readonly clock: Clock };
    readonly decisions: DecisionSink;
    /** Told when a pull ended after the wait for it was left. */
    readonly onPulled?: (podUid: string) => void;
  }) {
    const { images, clock } = options.ports;
    this.#ongoing = new OngoingPulls({ clock, onEnd: options.onPulled ?? (() => undefined) });
    this.#images = images;
    this.#clock = clock;
    this.#decisions = options.decisions;
    this.#pulls = new ImagePulls({ images, clock, config: options.config });
    this.#backOff = new BackOff({ clock, policy: BACK_OFF });
  }

  /** How many back-offs and failures are held. */
  get size(): number {
    return this.#backOff.size + this.#failures.size + this.#ongoing.size;
  }

  /**
   * Answers the image, pulling it when the policy says so. Throws a NodeletError with the reason that the container's status shows
   * (InvalidImageName, ImageInspectError, ErrImageNeverPull, ImagePullBackOff, ErrImagePull, RegistryUnavailable, SignatureValidationFailed)
   * and the kubelet's message, or `cancelled` when the signal fires (without reason) or `leave` does (PullGoesOn); that counts as no failure.
   */
  async ensureImage(request: EnsureImageRequest): Promise<EnsuredImage> {
    const ensuring = this.#prepare(request);
    const policy = request.container.imagePullPolicy ?? defaultPullPolicy(ensuring.requested);
    const pull = pullFor(ensuring, policy);
    const ongoing = this.#ongoing.find(pull);
    if (ongoing !== undefined) return this.#wait(request, pull, ongoing);
    if (policy !== "Always") {
      const image = await this.#inspect(ensuring);
      if (image !== undefined) return this.#present(ensuring, image);
      if (policy === "Never") throw this.#neverPulled(ensuring);
    }
    const begun = this.#ongoing.begin({ ...pull, signal: request.signal }, (signal) =>
      this.#pull({ ...ensuring, signal }, { fresh: policy === "Always" }),
    );
    return this.#wait(request, pull, begun);
  }

  /** Wall time in milliseconds at which an image in back-off may be pulled again; undefined when it may be now. */
  nextTryMs(request: { readonly podUid: string; readonly image: string }): number | undefined {
    return this.#backOff.sinceUpdate(backOffKey(request))?.untilMs;
  }

  /** Forgets a pod that is gone. */
  forget(podUid: string): void {
    this.#ongoing.forget(podUid);
    const isKept = (key: string): boolean => !key.startsWith(`${podUid}_`);
    this.#backOff.retain(isKept);
    for (const key of this.#failures.keys()) if (!isKept(key)) this.#failures.delete(key);
  }

  /** The back-offs for a state file; JSON. */
  exportBackOff(): readonly BackOffRecord[] {
    return this.#backOff.export();
  }

  /** Takes back what `exportBackOff` gave to an earlier process. */
  restoreBackOff(state: unknown): void {
    this.#backOff.restore(state);
  }

  async #wait(
    request: EnsureImageRequest,
    pull: PullFor,
    ongoing: ReturnType<OngoingPulls<EnsuredImage>["begin"]>,
  ): Promise<EnsuredImage> {
    const over = request.onWait?.();
    try {
      return await this.#ongoing.wait(pull, { ...request, ongoing });
    } finally {
      over?.();
    }
  }

  #prepare(request: EnsureImageRequest): Ensuring {
    const { pod, container, runtimeHandler = "" } = request;
    const decide = (decision: ImageDecision): void => this.#decide(request, decision);
    const requested = container.image ?? "";
    try {
      const spec = {
        image: withDefaultTag(requested),
        annotations: { ...pod.metadata?.annotations },
        ...(runtimeHandler === "" ? {} : { runtimeHandler }),
      };
      return { ...request, requested, spec, decide };
    } catch (error) {
      const message = `Failed to apply default image tag ${goQuote(requested)}: ${NodeletError.from(error).message}`;
      decide(failure({ reason: "InvalidImageName", event: "InspectFailed", message }));
      throw new NodeletError("invalid", message, { reason: "InvalidImageName", cause: error });
    }
  }

  async #inspect(ensuring: Ensuring): Promise<Image | undefined> {
    const { spec, signal } = ensuring;
    try {
      return await this.#images.imageStatus({ image: spec, ...withSignal(signal) });
    } catch (error) {
      const fault = NodeletError.from(error);
      if (signal?.aborted) throw fault;
      const message = `Failed to inspect image ${goQuote(ensuring.requested)}: ${fault.message}`;
      ensuring.decide(failure({ reason: "ImageInspectError", event: "InspectFailed", message }));
      throw new NodeletError(fault.kind, message, { reason: "ImageInspectError", cause: fault });
    }
  }

  #present(ensuring: Ensuring, image: Image): EnsuredImage {
    const name = goQuote(ensuring.requested);
    const message = `Container image ${name} already present on machine and can be accessed by the pod`;
    const event = { type: "Normal", reason: "Pulled", message } as const;
    const tell = (): void =>
      ensuring.decide({ reason: "Pulled", message, inputs: { imageID: image.id }, outcome: "ok", event });
    if (ensuring.onPresent === undefined) tell();
    else ensuring.onPresent(tell);
    return { imageRef: image.id, image };
  }

  #neverPulled(ensuring: Ensuring): NodeletError {
    const message = `Container image ${goQuote(ensuring.requested)} is not present with pull policy of Never`;
    ensuring.decide(failure({ reason: "ErrImageNeverPull", event: "ErrImageNeverPull", message }));
    return new NodeletError("notFound", message, { reason: "ErrImageNeverPull" });
  }

  async #pull(ensuring: Ensuring, options: { readonly fresh: boolean }): Promise<EnsuredImage> {
    const { requested, spec, sandboxConfig, signal, decide } = ensuring;
    const key = backOffKey({ podUid: ensuring.pod.metadata?.uid ?? "", image: requested });
    this.#assertNotInBackOff(ensuring, key);
    this.#failures.delete(key);
    const beganAtMs = this.#clock.monotonicMs();
    const message = `Pulling image ${goQuote(requested)}`;
    const event = { type: "Normal", reason: "Pulling", message } as const;
    decide({ reason: "Pulling", message, inputs: { image: spec.image }, outcome: "ok", event });
    let pulled: Awaited<ReturnType<ImagePulls["pull"]>>;
    try {
      pulled = await this.#pulls.pull({
        image: spec,
        sandboxConfig,
        fresh: options.fresh,
        signal,
        onProgress: (elapsedMs) => decide(progress(requested, elapsedMs)),
        onQueued: (waitsFor) => decide(queued(requested, waitsFor)),
      });
    } catch (error) {
      throw this.#pullFailed(ensuring, { key, error });
    }
    const elapsedMs = this.#clock.monotonicMs() - beganAtMs;
    const image = await this.#inspectPulled(ensuring);
    decide(succeeded({ requested, image, elapsedMs, pullMs: Math.min(pulled.pullMs, elapsedMs) }));
    this.#backOff.prune();
    return { imageRef: pulled.imageRef, image };
  }

  #assertNotInBackOff(ensuring: Ensuring, key: string): void {
    const window = this.#backOff.sinceUpdate(key);
    if (window === undefined) return;
    const text = `Back-off pulling image ${goQuote(ensuring.requested)}`;
    const earlier = this.#failures.get(key);
    const message = earlier === undefined ? text : `${text}: ${earlier}`;
    ensuring.decide({
      reason: "ImagePullBackOff",
      message,
      inputs: { backOffMs: window.durationMs },
      outcome: "waiting",
      nextTryMs: window.untilMs,
      event: { type: "Normal", reason: "BackOff", message: text },
    });
    throw new NodeletError("unavailable", message, { reason: "ImagePullBackOff" });
  }

  #pullFailed(ensuring: Ensuring, failed: { readonly key: string; readonly error: unknown }): NodeletError {
    const cause = NodeletError.from(failed.error);
    if (ensuring.signal?.aborted) return cause;
    const fault = pullFault({ image: ensuring.requested, cause });
    const backOffMs = this.#backOff.next(failed.key);
    this.#failures.set(failed.key, `${fault.reason}: ${fault.message}`);
    const message = `Failed to pull image ${goQuote(ensuring.requested)}: ${cause.message}`;
    ensuring.decide({
      ...failure({ reason: fault.reason, event: "Failed", message }),
      inputs: { backOffMs },
      nextTryMs: this.#clock.nowMs() + backOffMs,
    });
    return new NodeletError(cause.kind, fault.message, { reason: fault.reason, cause });
  }

  /** What was just pulled must be there: its user decides whom the container runs as, so nothing is guessed. */
  async #inspectPulled(ensuring: Ensuring): Promise<Image> {
    const image = await this.#inspect(ensuring);
    if (image !== undefined) return image;
    const message = `Failed to inspect image ${goQuote(ensuring.requested)}: the runtime pulled it and does not have it`;
    ensuring.decide(failure({ reason: "ImageInspectError", event: "InspectFailed", message }));
    throw new NodeletError("unavailable", message, { reason: "ImageInspectError" });
  }

  #decide(request: EnsureImageRequest, decision: ImageDecision): void {
    const { pod, container } = request;
    const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
    const kind = findContainer(pod, container.name)?.kind ?? "regular";
    const containerField = CONTAINER_FIELDS[kind];
    const action = decision.outcome === "waiting" && decision.nextTryMs !== undefined ? "backOff" : "pull";
    this.#decisions.record({
      action,
      pod: { uid, name, namespace },
      container: container.name,
      containerField,
      ...decision,
    });
  }
}

const CONTAINER_FIELDS = {
  init: "initContainers",
  regular: "containers",
  ephemeral: "ephemeralContainers",
} as const;

/** Key of the pull back-off, as the kubelet's: one pod's failures do not hold another pod back. */
function backOffKey(request: { readonly podUid: string; readonly image: string }): string {
  return `${request.podUid}_${request.image}`;
}

function pullFor({ pod, container, spec }: Ensuring, policy: string): PullFor {
  const what = JSON.stringify([spec.image, spec.runtimeHandler ?? "", policy]);
  return { podUid: pod.metadata?.uid ?? "", containerName: container.name, what };
}

function withSignal(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function failure(options: {
  readonly reason: string;
  readonly event: string;
  readonly message: string;
}): ImageDecision {
  const { reason, message } = options;
  return { reason, message, outcome: "failed", event: { type: "Warning", reason: options.event, message } };
}

function progress(image: string, elapsedMs: number): ImageDecision {
  const message = `Still pulling image ${goQuote(image)} after ${goDuration(elapsedMs)}`;
  return { reason: "Pulling", message, inputs: { elapsedMs: Math.round(elapsedMs) }, outcome: "waiting" };
}

function queued(image: string, waitsFor: readonly string[]): ImageDecision {
  const message = `Pulling image ${goQuote(image)} waits for the pull of ${waitsFor.join(", ")}`;
  return { reason: "Pulling", message, inputs: { waitsFor }, outcome: "waiting" };
}

function succeeded(options: {
  readonly requested: string;
  readonly image: Image;
  readonly pullMs: number;
  readonly elapsedMs: number;
}): ImageDecision {
  const { requested, image } = options;
  const times = `${goDuration(options.pullMs)} (${goDuration(options.elapsedMs)} including waiting)`;
  const message = `Successfully pulled image ${goQuote(requested)} in ${times}. Image size: ${image.sizeBytes} bytes.`;
  return {
    reason: "Pulled",
    message,
    inputs: { imageID: image.id },
    outcome: "ok",
    event: { type: "Normal", reason: "Pulled", message },
  };
}
