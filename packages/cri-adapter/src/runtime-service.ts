import { fromBinary } from "@bufbuild/protobuf";
import {
  type CallOptions,
  type Clock,
  type ContainerEvent,
  type ContainerSummary,
  type CriContainerStatus,
  isErrorOfKind,
  NodeletError,
  type RuntimeCapabilities,
  type RuntimeService,
  type RuntimeStatus,
  type RuntimeVersion,
  type SandboxStatus,
  type SandboxSummary,
} from "@nodelet/core";
import { probeCapabilities } from "./capabilities.ts";
import type { CriRuntimeClient } from "./cri-client.ts";
import { ContainerSchema, PodSandboxSchema } from "./gen/runtime/v1/api_pb.ts";
import type { Connection } from "./grpc/connection.ts";
import type { LeanClient } from "./lists/lean-client.ts";
import { RowCache, type RowCacheOptions } from "./lists/row-cache.ts";
import {
  type ContainerFilter,
  createContainerRequest,
  decodeContainer,
  decodeContainerEvent,
  decodeContainerStatus,
  encodeContainerFilter,
} from "./mapping/container.ts";
import {
  removeContainerRequest,
  removePodSandboxRequest,
  startContainerRequest,
  stopContainerRequest,
  stopPodSandboxRequest,
} from "./mapping/requests.ts";
import { decodeStatus } from "./mapping/runtime.ts";
import {
  decodeSandbox,
  decodeSandboxStatus,
  encodeSandboxFilter,
  runPodSandboxRequest,
  type SandboxFilter,
} from "./mapping/sandbox.ts";
import { OptionalCalls } from "./optional-calls.ts";
import { readVersion } from "./runtime-version.ts";

/** What the service is made of. */
export interface CriRuntimeServiceOptions {
  readonly client: CriRuntimeClient;
  readonly lean: LeanClient;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
}

/** Most rows of a streamed list: far more than a node can hold, and a bound on what a faulty runtime can cost. */
const MAX_ROWS = 100_000;

const SANDBOX_ROWS: RowCacheOptions<SandboxSummary> = {
  idField: PodSandboxSchema.field.id.number,
  mapFields: new Set([PodSandboxSchema.field.labels.number, PodSandboxSchema.field.annotations.number]),
  decode: (bytes) => decodeSandbox(fromBinary(PodSandboxSchema, bytes)),
};
const CONTAINER_ROWS: RowCacheOptions<ContainerSummary> = {
  idField: ContainerSchema.field.id.number,
  mapFields: new Set([ContainerSchema.field.labels.number, ContainerSchema.field.annotations.number]),
  decode: (bytes) => decodeContainer(fromBinary(ContainerSchema, bytes)),
};

type RequestOf<K extends keyof RuntimeService> = Parameters<RuntimeService[K]>[0];

/** RuntimeService over CRI v1. Keeps what the runtime was found to lack, and the rows of its last lists. */
export class CriRuntimeService implements RuntimeService {
  readonly #client: CriRuntimeClient;
  readonly #lean: LeanClient;
  readonly #sandboxRows = new RowCache(SANDBOX_ROWS);
  readonly #containerRows = new RowCache(CONTAINER_ROWS);
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #requestTimeoutMs: number;
  readonly #optional = new OptionalCalls();
  #capabilities: Promise<RuntimeCapabilities> | undefined;

  constructor(options: CriRuntimeServiceOptions) {
    this.#client = options.client;
    this.#lean = options.lean;
    this.#connection = options.connection;
    this.#clock = options.clock;
    this.#requestTimeoutMs = options.requestTimeoutMs;
  }

  async capabilities(options: CallOptions = {}): Promise<RuntimeCapabilities> {
    // Shared by all callers, so one caller's signal must not end it: it only ends that caller's waiting.
    this.#capabilities ??= probeCapabilities({ client: this.#client, optional: this.#optional }).catch(
      (error: unknown) => {
        this.#capabilities = undefined;
        throw error;
      },
    );
    return unlessAborted(this.#capabilities, options.signal);
  }

  async version(options: CallOptions = {}): Promise<RuntimeVersion> {
    return readVersion({
      client: this.#client,
      connection: this.#connection,
      clock: this.#clock,
      signal: options.signal,
    });
  }

  async status(options: CallOptions = {}): Promise<RuntimeStatus> {
    return decodeStatus(await this.#client.status({}, { signal: options.signal }));
  }

  async runSandbox(request: RequestOf<"runSandbox">): Promise<string> {
    // Twice the usual time, as in upstream: the network plugin is part of it.
    const options = { signal: request.signal, timeoutMs: 2 * this.#requestTimeoutMs };
    const { podSandboxId } = await this.#client.runPodSandbox(runPodSandboxRequest(request), options);
    return requireId(podSandboxId, "RunPodSandbox");
  }

  async stopSandbox(request: RequestOf<"stopSandbox">): Promise<void> {
    await ignoreNotFound(this.#client.stopPodSandbox(stopPodSandboxRequest(request), { signal: request.signal }));
  }

  async removeSandbox(request: RequestOf<"removeSandbox">): Promise<void> {
    await ignoreNotFound(this.#client.removePodSandbox(removePodSandboxRequest(request), { signal: request.signal }));
  }

  async sandboxStatus(request: RequestOf<"sandboxStatus">): Promise<SandboxStatus> {
    const { sandboxId, signal } = request;
    const { status } = await this.#client.podSandboxStatus({ podSandboxId: sandboxId }, { signal });
    if (status === undefined) throw noStatus(`sandbox ${sandboxId}`);
    return decodeSandboxStatus(status);
  }

  async listSandboxes(request: (SandboxFilter & CallOptions) | undefined = {}): Promise<readonly SandboxSummary[]> {
    const filter = encodeSandboxFilter(request);
    const options = { signal: request.signal };
    return this.#list({
      streaming: "streamPodSandboxes",
      pieces: () => this.#client.streamPodSandboxes({ filter }, options),
      rowsOf: ({ podSandboxes }) => podSandboxes,
      whole: async () => {
        const answer = await this.#lean.listPodSandbox(filter === undefined ? {} : { filter }, options);
        return this.#sandboxRows.read(answer, { whole: filter === undefined });
      },
      decode: decodeSandbox,
    });
  }

  async createContainer(request: RequestOf<"createContainer">): Promise<string> {
    const { containerId } = await this.#client.createContainer(createContainerRequest(request), {
      signal: request.signal,
    });
    return requireId(containerId, "CreateContainer");
  }

  async startContainer(request: RequestOf<"startContainer">): Promise<void> {
    await this.#client.startContainer(startContainerRequest(request), { signal: request.signal });
  }

  async stopContainer(request: RequestOf<"stopContainer">): Promise<void> {
    const timeoutMs = this.#requestTimeoutMs + Math.max(0, request.timeoutSeconds) * 1000;
    await ignoreNotFound(
      this.#client.stopContainer(stopContainerRequest(request), { signal: request.signal, timeoutMs }),
    );
  }

  async removeContainer(request: RequestOf<"removeContainer">): Promise<void> {
    await ignoreNotFound(this.#client.removeContainer(removeContainerRequest(request), { signal: request.signal }));
  }

  async containerStatus(request: RequestOf<"containerStatus">): Promise<CriContainerStatus> {
    const { containerId, signal } = request;
    const { status } = await this.#client.containerStatus({ containerId }, { signal });
    if (status === undefined) throw noStatus(`container ${containerId}`);
    return decodeContainerStatus(status);
  }

  async listContainers(
    request: (ContainerFilter & CallOptions) | undefined = {},
  ): Promise<readonly ContainerSummary[]> {
    const filter = encodeContainerFilter(request);
    const options = { signal: request.signal };
    return this.#list({
      streaming: "streamContainers",
      pieces: () => this.#client.streamContainers({ filter }, options),
      rowsOf: ({ containers }) => containers,
      whole: async () => {
        const answer = await this.#lean.listContainers(filter === undefined ? {} : { filter }, options);
        return this.#containerRows.read(answer, { whole: filter === undefined });
      },
      decode: decodeContainer,
    });
  }

  async watchContainerEvents(request: {
    readonly onEvent: (event: ContainerEvent) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { onEvent, signal } = request;
    try {
      for await (const message of this.#lean.getContainerEvents({ timeoutMs: 0, signal })) {
        const event = decodeContainerEvent(message);
        if (event !== undefined) onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isErrorOfKind(error, "unsupported")) this.#forgetAbilities();
      throw error;
    }
    if (signal.aborted) return;
    throw new NodeletError(
      "unavailable",
      `the container runtime at ${this.#connection.endpoint.url} ended its event stream`,
    );
  }

  /** A list in pieces where the runtime has that, else as a whole. A list that broke half-way is no list: it fails. */
  async #list<Piece, Row, Decoded>(list: {
    readonly streaming: string;
    readonly pieces: () => AsyncIterable<Piece>;
    readonly rowsOf: (piece: Piece) => readonly Row[];
    readonly whole: () => Promise<readonly Decoded[]>;
    readonly decode: (row: Row) => Decoded;
  }): Promise<readonly Decoded[]> {
    try {
      const streamed = await this.#optional.attempt(list.streaming, async () => {
        const rows: Decoded[] = [];
        for await (const piece of list.pieces()) {
          for (const row of list.rowsOf(piece)) rows.push(list.decode(row));
          if (rows.length > MAX_ROWS)
            throw new NodeletError("resourceExhausted", `${list.streaming} sent more than ${MAX_ROWS} rows`);
        }
        return rows;
      });
      return streamed ?? (await list.whole());
    } catch (error) {
      if (isErrorOfKind(error, "unavailable")) this.#forgetAbilities();
      throw error;
    }
  }

  /** The runtime was away and may come back as another version, with other abilities. */
  #forgetAbilities(): void {
    this.#capabilities = undefined;
    this.#optional.forget();
  }
}

function requireId(id: string, method: string): string {
  if (id === "") throw new NodeletError("internal", `the runtime's answer to ${method} holds no id`);
  return id;
}

function noStatus(of: string): NodeletError {
  return new NodeletError("internal", `the runtime answered without a status of ${of}`);
}

/** Stopping and removing what is gone is success, which not every runtime says. */
async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isErrorOfKind(error, "notFound")) throw error;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () =>
      reject(
        new NodeletError("cancelled", "asking the runtime's capabilities was cancelled", { cause: signal.reason }),
      );
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
