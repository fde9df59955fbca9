import type { Client, Metadata } from "@grpc/grpc-js";
import { NodeletError } from "@nodelet/core";
import type { CriEndpoint } from "../endpoint.ts";

/** Largest message either way: 16 MiB, as the kubelet allows. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A connected client with what every call shares. */
export interface Transport {
  readonly client: Client;
  /** No call sends metadata, so all share the empty one. */
  readonly metadata: Metadata;
}

/**
 * One HTTP/2 connection to a runtime, made when the first call needs it and made anew whenever it broke: at once, then after
 * 100 ms, doubling to 3 s, as the kubelet does. While no connection comes about, calls fail at once with `unavailable`.
 */
export class Connection {
  readonly endpoint: CriEndpoint;
  #transport: Transport | undefined;
  #loading: Promise<Transport> | undefined;
  #closed = false;
  readonly #inFlight = new Set<(reason: NodeletError) => void>();

  constructor(endpoint: CriEndpoint) {
    this.endpoint = endpoint;
  }

  /** The transport; a promise only before it is first there, so that later calls take no detour. */
  acquire(): Transport | Promise<Transport> {
    if (this.#closed) throw this.#closedError();
    if (this.#transport !== undefined) return this.#transport;
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Calls `end` when the connection is closed, unless the answered function was called first. */
  whenClosed(end: (reason: NodeletError) => void): () => void {
    this.#inFlight.add(end);
    return () => this.#inFlight.delete(end);
  }

  /** Ends the connection; calls in flight fail. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const end of this.#inFlight) end(this.#closedError());
    this.#transport?.client.close();
    this.#transport = undefined;
  }

  #closedError(): NodeletError {
    return new NodeletError("unavailable", `the connection to ${this.endpoint.url} was closed`);
  }

  // grpc-js costs 18 MB and 60 ms: it is loaded when a runtime is first called, not when this package is imported.
  async #load(): Promise<Transport> {
    const grpc = await import("@grpc/grpc-js");
    const client = new grpc.Client(`unix:${this.endpoint.socketPath}`, grpc.credentials.createInsecure(), {
      "grpc.default_authority": "localhost",
      "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
      "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 3000,
      // Whether to repeat a call is for core to decide; it knows which calls change something.
      "grpc.enable_retries": 0,
      "grpc.service_config_disable_resolution": 1,
      // A proxy named in the environment is not meant for a local socket.
      "grpc.enable_http_proxy": 0,
      // Two agents in one process share nothing.
      "grpc.use_local_subchannel_pool": 1,
      "grpc.enable_channelz": 0,
    });
    const transport = { client, metadata: new grpc.Metadata() };
    if (this.#closed) {
      client.close();
      throw this.#closedError();
    }
    this.#transport = transport;
    return transport;
  }
}
