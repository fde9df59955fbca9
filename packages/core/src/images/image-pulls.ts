import { orCancelled } from "../async/delay.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { NodeletError } from "../errors/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { ImageService } from "../ports/image-service.ts";
import type { ImageSpec, SandboxConfig } from "../ports/runtime-types.ts";
import { PullLanes } from "./pull-lanes.ts";
import { TokenBucket } from "./token-bucket.ts";

/** The configuration that orders pulls. */
export type PullConfig = Pick<
  AgentConfig,
  "serializeImagePulls" | "maxParallelImagePulls" | "registryPullQps" | "registryBurst"
>;

/** One pod's wish for an image. */
export interface PullRequest {
  readonly image: ImageSpec;
  readonly sandboxConfig: SandboxConfig;
  /** The image is wanted as the registry has it from now on: a pull that has begun before does not do. */
  readonly fresh: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called about every 30 s while the pull goes on. */
  readonly onProgress: (elapsedMs: number) => void;
  /** Called once when the pull has to wait for others. */
  readonly onQueued: (waitsFor: readonly string[]) => void;
}

/** What a pull gave. */
export interface PullResult {
  readonly imageRef: string;
  /** Time of the pull itself, without waiting in the queue. */
  readonly pullMs: number;
}

interface JobState {
  readonly controller: AbortController;
  readonly waiters: Set<PullRequest>;
  started: boolean;
  ended: boolean;
}

interface Job {
  readonly state: JobState;
  readonly result: Promise<PullResult>;
}

/**
 * Pulls in the configured order: one at a time, some at once, or all. Pods that want the same image while it is being pulled share the
 * pull; one that wants it fresh (policy Always) shares only a pull that has not begun. A pull goes on for as long as somebody wants it.
 */
export class ImagePulls {
  readonly #images: ImageService;
  readonly #clock: Clock;
  readonly #lanes: PullLanes;
  readonly #tokens: TokenBucket;
  readonly #jobs = new Map<string, Job>();

  constructor(options: { readonly images: ImageService; readonly clock: Clock; readonly config: PullConfig }) {
    const { clock, config } = options;
    this.#images = options.images;
    this.#clock = clock;
    this.#lanes = new PullLanes(config.serializeImagePulls ? 1 : config.maxParallelImagePulls);
    this.#tokens = new TokenBucket({ clock, perSecond: config.registryPullQps, burst: config.registryBurst });
  }

  /**
   * Rejects with the runtime's error, with `resourceExhausted` ("pull QPS exceeded") when the rate is used up, or with `cancelled` as soon as
   * the request's signal fires.
   */
  async pull(request: PullRequest): Promise<PullResult> {
    const { signal } = request;
    const { image, runtimeHandler = "" } = request.image;
    if (signal?.aborted) throw cancelled(image, signal);
    const key = JSON.stringify([image, runtimeHandler]);
    const running = this.#jobs.get(key);
    const isUsable = running !== undefined && !(request.fresh && running.state.started);
    const waitsFor = this.#lanes.waitsFor;
    const job = isUsable ? running : this.#begin(key, request);
    const { state } = job;
    state.waiters.add(request);
    if (!state.started) request.onQueued(waitsFor);
    try {
      return await whileWanted({ image, signal, result: job.result });
    } finally {
      state.waiters.delete(request);
      if (state.waiters.size === 0 && !state.ended) {
        this.#forget(key, job);
        state.controller.abort(new NodeletError("cancelled", `no pod wants image ${image} any more`));
      }
    }
  }

  #begin(key: string, request: PullRequest): Job {
    const state: JobState = { controller: new AbortController(), waiters: new Set(), started: false, ended: false };
    const { signal } = state.controller;
    const onProgress = (elapsedMs: number): void => {
      for (const waiter of state.waiters) waiter.onProgress(elapsedMs);
    };
    const result = this.#lanes.run({ name: request.image.image, signal }, () => {
      state.started = true;
      return this.#pullNow({ request, onProgress, signal });
    });
    const job: Job = { state, result };
    this.#jobs.set(key, job);
    const end = (): void => {
      state.ended = true;
      this.#forget(key, job);
    };
    // Nobody may be left to hear of a failure.
    result.then(end, end);
    return job;
  }

  #forget(key: string, job: Job): void {
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
  }

  async #pullNow(options: {
    readonly request: PullRequest;
    readonly onProgress: (elapsedMs: number) => void;
    readonly signal: AbortSignal;
  }): Promise<PullResult> {
    const { request, onProgress, signal } = options;
    if (!this.#tokens.tryTake()) throw new NodeletError("resourceExhausted", "pull QPS exceeded");
    const startedAtMs = this.#clock.monotonicMs();
    const { image, sandboxConfig } = request;
    // A pull that nobody wants any more frees its place, even if the image service does not heed that.
    const pulling = this.#images.pullImage({ image, sandboxConfig, onProgress, signal });
    const imageRef = await orCancelled(pulling, { what: `pulling image ${image.image}`, signal });
    return { imageRef, pullMs: this.#clock.monotonicMs() - startedAtMs };
  }
}

/** The result, or `cancelled` at the instant the signal fires: whoever no longer wants it waits no longer. */
function whileWanted<T>(options: {
  readonly image: string;
  readonly signal: AbortSignal | undefined;
  readonly result: Promise<T>;
}): Promise<T> {
  const { image, signal, result } = options;
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled(image, signal));
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function cancelled(image: string, signal: AbortSignal): NodeletError {
  return new NodeletError("cancelled", `pulling image ${image} was cancelled`, { cause: signal.reason });
}
