import {
  type CallOptions,
  type Clock,
  type Image,
  type ImageAuth,
  type ImageService,
  type ImageSpec,
  NodeletError,
  type SandboxConfig,
} from "@nodelet/core";
import { SeededRandom } from "../random/seeded-random.ts";
import { CallGate } from "../runtime/call-gate.ts";
import { CallJournal } from "../runtime/call-journal.ts";
import type { Hang, HangOptions } from "../runtime/hang.ts";
import type { RecordedCall } from "../runtime/runtime-call.ts";
import { formatReference, parseReference } from "./reference.ts";
import type { ImageDefinition, StoredImage } from "./stored-image.ts";

/** How an InMemoryImages begins. */
export interface InMemoryImagesOptions {
  readonly clock: Clock;
  readonly random?: SeededRandom;
  /** Images that are present from the start: references, or definitions. */
  readonly present?: readonly (string | ImageDefinition)[];
  /** Images that can be pulled. */
  readonly pullable?: readonly (string | ImageDefinition)[];
  /** How long a pull takes, in milliseconds; nothing when absent. */
  readonly pullMs?: (reference: string) => number;
}

/** How often a pull reports that it goes on. */
const PROGRESS_EVERY_MS = 30_000;

/**
 * The image store of an in-memory runtime, with a registry behind it. References are read as Docker's are (`busybox` is
 * `docker.io/library/busybox:latest`). What the registry does not have cannot be pulled: containerd's words for a registry that refuses the
 * connection.
 */
export class InMemoryImages implements ImageService {
  readonly #clock: Clock;
  readonly #random: SeededRandom;
  readonly #pullMs: (reference: string) => number;
  readonly #byReference = new Map<string, StoredImage>();
  readonly #byId = new Map<string, StoredImage>();
  readonly #registry = new Map<string, ImageDefinition>();
  readonly #failures = new Map<string, NodeletError>();
  readonly #journal = new CallJournal();
  readonly #gate: CallGate;

  constructor(options: InMemoryImagesOptions) {
    this.#clock = options.clock;
    this.#random = options.random ?? new SeededRandom("images");
    this.#pullMs = options.pullMs ?? (() => 0);
    this.#gate = new CallGate({
      clock: options.clock,
      random: this.#random,
      requestTimeoutMs: 120_000,
      lateEffectProbability: 0.5,
      latencyMs: () => 0,
    });
    for (const image of options.present ?? []) this.add(image);
    for (const image of options.pullable ?? []) this.offer(image);
  }

  /** Pulls in the order in which they were asked for. */
  get calls(): readonly RecordedCall[] {
    return this.#journal.calls;
  }

  /** Puts an image into the store, as an import does. */
  add(image: string | ImageDefinition): StoredImage {
    return this.#store(typeof image === "string" ? { reference: image } : image, false);
  }

  /** Puts an image into the registry. */
  offer(image: string | ImageDefinition): void {
    const definition = typeof image === "string" ? { reference: image } : image;
    this.#registry.set(canonical(definition.reference), definition);
  }

  /** Lets every pull of a reference fail with this error, until it is called with undefined. */
  failPull(request: { readonly reference: string; readonly error: NodeletError | undefined }): void {
    const reference = canonical(request.reference);
    if (request.error === undefined) this.#failures.delete(reference);
    else this.#failures.set(reference, request.error);
  }

  /** Takes an image out of the store, by reference or id; containers that were made of it go on. */
  remove(reference: string): void {
    const image = this.resolve(reference);
    if (image === undefined) return;
    this.#byId.delete(image.id);
    for (const [name, stored] of this.#byReference) if (stored.id === image.id) this.#byReference.delete(name);
  }

  /** Lets calls about matching images hang until released. */
  hang(options: HangOptions = {}): Hang {
    return this.#gate.hang(options);
  }

  /** The daemon goes away or comes back; the runtime that owns this store calls it. */
  setDaemonUp(up: boolean): void {
    if (up) this.#gate.goUp();
    else this.#gate.goDown();
  }

  /** The image that a reference, an id, or an unambiguous start of an id names. */
  resolve(reference: string): StoredImage | undefined {
    const byId = this.#byId.get(reference.startsWith("sha256:") ? reference : `sha256:${reference}`);
    if (byId !== undefined) return byId;
    try {
      return this.#byReference.get(canonical(reference));
    } catch (error) {
      if (NodeletError.is(error)) return undefined;
      throw error;
    }
  }

  async imageStatus(request: { readonly image: ImageSpec } & CallOptions): Promise<Image | undefined> {
    const { image, signal } = request;
    return this.#gate.run(
      { call: "imageStatus", changes: false, keys: [image.image], signal },
      { perform: () => toImage(this.resolve(image.image)) },
    );
  }

  async pullImage(
    request: {
      readonly image: ImageSpec;
      readonly auth?: ImageAuth;
      readonly sandboxConfig: SandboxConfig;
      readonly onProgress?: (elapsedMs: number) => void;
    } & CallOptions,
  ): Promise<string> {
    const { auth: _secret, ...rest } = request;
    const entry = this.#journal.begin({ call: "pullImage", request: rest, atMs: this.#clock.nowMs() });
    return this.#journal.follow(entry, this.#pull(request));
  }

  async #pull(request: Parameters<ImageService["pullImage"]>[0]): Promise<string> {
    const text = request.image.image;
    const reference = pullReference(text);
    const stopProgress = this.#reportProgress(request.onProgress);
    try {
      return await this.#gate.run(
        {
          call: "pullImage",
          changes: true,
          keys: [text],
          signal: request.signal,
          extraTimeMs: Number.POSITIVE_INFINITY,
        },
        { perform: ({ onAbandon }) => this.#download({ text, reference, onAbandon }) },
      );
    } finally {
      stopProgress();
    }
  }

  #download(pull: {
    readonly text: string;
    readonly reference: string;
    readonly onAbandon: (callback: () => void) => void;
  }): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        try {
          resolve(this.#pulled(pull.text, pull.reference).id);
        } catch (error) {
          reject(NodeletError.from(error));
        }
      };
      const durationMs = this.#pullMs(pull.text);
      if (durationMs <= 0) {
        finish();
        return;
      }
      const timer = this.#clock.setTimer(durationMs, finish);
      pull.onAbandon(() => timer.cancel());
    });
  }

  #pulled(text: string, reference: string): StoredImage {
    const failure = this.#failures.get(reference);
    if (failure !== undefined) throw failure;
    const definition = this.#registry.get(reference);
    if (definition === undefined) throw connectionRefused(text, reference);
    return this.#store(definition, true);
  }

  #reportProgress(onProgress: ((elapsedMs: number) => void) | undefined): () => void {
    if (onProgress === undefined) return () => {};
    const startMs = this.#clock.monotonicMs();
    const report = () => {
      timer = this.#clock.setTimer(PROGRESS_EVERY_MS, report);
      onProgress(this.#clock.monotonicMs() - startMs);
    };
    let timer = this.#clock.setTimer(PROGRESS_EVERY_MS, report);
    return () => timer.cancel();
  }

  #store(definition: ImageDefinition, pulled: boolean): StoredImage {
    const parsed = parseReference(definition.reference);
    const reference = formatReference(parsed);
    const digestOf = (what: string) => `sha256:${new SeededRandom(`${what} ${reference}`).hex(64)}`;
    const id = definition.id ?? digestOf("id");
    const previous = this.#byId.get(id);
    const withDigest = parsed.digest !== undefined || (definition.withDigest ?? pulled);
    const digest = `${parsed.repository}@${parsed.digest ?? digestOf("manifest")}`;
    const tags = parsed.digest === undefined ? [reference] : [];
    this.#untag({ reference, exceptId: id });
    const image: StoredImage = {
      id,
      repoTags: [...new Set([...(previous?.repoTags ?? []), ...tags])],
      repoDigests: [...new Set([...(previous?.repoDigests ?? []), ...(withDigest ? [digest] : [])])],
      sizeBytes: definition.sizeBytes ?? 4_194_304n,
      pinned: definition.pinned ?? false,
      entrypoint: definition.entrypoint ?? [],
      command: definition.command ?? ["/server"],
      ...(definition.uid === undefined ? {} : { uid: definition.uid }),
      ...(definition.username === undefined ? {} : { username: definition.username }),
      ...(definition.stopSignal === undefined ? {} : { stopSignal: definition.stopSignal }),
      ...(definition.executables === undefined ? {} : { executables: definition.executables }),
      ...(definition.primaryGroups === undefined ? {} : { primaryGroups: definition.primaryGroups }),
    };
    this.#byId.set(id, image);
    for (const name of [...image.repoTags, ...image.repoDigests]) this.#byReference.set(name, image);
    return image;
  }

  /** A tag that moves to another image leaves the one that had it. */
  #untag(moved: { readonly reference: string; readonly exceptId: string }): void {
    const holder = this.#byReference.get(moved.reference);
    if (holder === undefined || holder.id === moved.exceptId) return;
    const rest = { ...holder, repoTags: holder.repoTags.filter((tag) => tag !== moved.reference) };
    this.#byId.set(rest.id, rest);
    for (const name of [...rest.repoTags, ...rest.repoDigests]) this.#byReference.set(name, rest);
  }
}

function canonical(reference: string): string {
  return formatReference(parseReference(reference));
}

function pullReference(text: string): string {
  try {
    return canonical(text);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new NodeletError("internal", `failed to parse image reference "${text}": ${detail}`, { cause: error });
  }
}

function connectionRefused(text: string, reference: string): NodeletError {
  const { repository, tag, digest } = parseReference(reference);
  const slash = repository.indexOf("/");
  const url = `https://${repository.slice(0, slash)}/v2/${repository.slice(slash + 1)}/manifests/${digest ?? tag}`;
  const cause = `failed to do request: Head "${url}": dial tcp 127.0.0.1:443: connect: connection refused`;
  return new NodeletError("internal", `failed to pull and unpack image "${text}": failed to resolve image: ${cause}`);
}

function toImage(stored: StoredImage | undefined): Image | undefined {
  if (stored === undefined) return undefined;
  const { id, repoTags, repoDigests, sizeBytes, uid, username, pinned } = stored;
  return {
    id,
    repoTags,
    repoDigests,
    sizeBytes,
    pinned,
    ...(uid === undefined ? {} : { uid }),
    ...(username === undefined ? {} : { username }),
  };
}
