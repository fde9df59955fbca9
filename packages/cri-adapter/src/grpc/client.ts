import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Clock } from "@nodelet/core";
import { NodeletError } from "@nodelet/core";
import { CallGuard } from "./call-guard.ts";
import type { Connection, Transport } from "./connection.ts";
import { type CallContext, type CallEffect, cancelledError, toNodeletError } from "./status.ts";

/** How one call is made. */
export interface GrpcCallOptions {
  /** Milliseconds until the call is given up; undefined for the client's default, 0 for none. */
  readonly timeoutMs?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

type MethodsOf<S> = S extends GenService<infer M> ? M : never;

/**
 * A typed client of a generated service: a unary procedure answers a promise, a server stream an async iterable whose loop
 * may be left at any time. Failures are NodeletErrors with the runtime's answer as `cause` (see `toNodeletError`).
 */
export type GrpcClient<S> = {
  readonly [K in keyof MethodsOf<S>]: MethodsOf<S>[K] extends {
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? MethodsOf<S>[K]["methodKind"] extends "unary"
      ? (request: MessageInitShape<I>, options?: GrpcCallOptions) => Promise<MessageShape<O>>
      : (request: MessageInitShape<I>, options?: GrpcCallOptions) => AsyncIterable<MessageShape<O>>
    : never;
};

/** What each procedure of a service does; the table must name every one. */
export type CallEffects<S> = Readonly<Record<keyof MethodsOf<S>, CallEffect>>;

/** What a client is made of. */
export interface GrpcClientOptions<S> {
  readonly service: S;
  readonly effects: CallEffects<S>;
  readonly connection: Connection;
  readonly clock: Clock;
  /** Milliseconds for calls that name no timeout of their own. */
  readonly defaultTimeoutMs: number;
}

/** Makes the client; it connects with its first call. */
export function createGrpcClient<M extends GenServiceMethods>(
  options: GrpcClientOptions<GenService<M>>,
): GrpcClient<GenService<M>> {
  const { service, effects, connection, clock, defaultTimeoutMs } = options;
  const table = effects as Readonly<Record<string, CallEffect>>;
  const methods: Record<string, unknown> = {};
  for (const method of service.methods) {
    const call = new MethodCall({
      method,
      effect: table[method.localName] ?? "changes",
      path: pathOf(method),
      connection,
      clock,
      defaultTimeoutMs,
    });
    methods[method.localName] =
      method.methodKind === "unary"
        ? (request: Message, callOptions?: GrpcCallOptions) => call.unary(request, callOptions)
        : (request: Message, callOptions?: GrpcCallOptions) => call.stream(request, callOptions);
  }
  return methods as GrpcClient<GenService<M>>;
}

/** What one procedure's own reader is made of. */
export interface OwnReaderOptions<T> {
  readonly method: DescMethod;
  readonly effect: CallEffect;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly defaultTimeoutMs: number;
  /** Makes of an answer's bytes what the caller wants; what it throws fails the call as `internal`. */
  readonly read: (bytes: Buffer) => T;
}

/** A unary procedure whose answer is read by a function of its own in place of protobuf's: where an answer is large and mostly known already. */
export function createOwnUnary<I extends DescMessage, T>(
  options: OwnReaderOptions<T> & { readonly input: I },
): (request: MessageInitShape<I>, callOptions?: GrpcCallOptions) => Promise<T> {
  const call = new MethodCall({ ...options, path: pathOf(options.method) });
  return (request, callOptions) => call.unary(request as Message, callOptions) as Promise<unknown> as Promise<T>;
}

/** The same for a server stream. */
export function createOwnStream<I extends DescMessage, T>(
  options: OwnReaderOptions<T> & { readonly input: I },
): (request: MessageInitShape<I>, callOptions?: GrpcCallOptions) => AsyncIterable<T> {
  const call = new MethodCall({ ...options, path: pathOf(options.method) });
  return (request, callOptions) =>
    call.stream(request as Message, callOptions) as AsyncIterable<unknown> as AsyncIterable<T>;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

interface MethodCallOptions {
  readonly method: DescMethod;
  readonly effect: CallEffect;
  readonly path: string;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly defaultTimeoutMs: number;
  /** In place of protobuf's own reader. */
  readonly read?: (bytes: Buffer) => unknown;
}

/** One procedure with all that its calls share. */
class MethodCall {
  readonly #options: MethodCallOptions;
  readonly #context: CallContext;
  readonly #serialize: (request: Message) => Buffer;
  readonly #deserialize: (bytes: Buffer) => Message;

  constructor(options: MethodCallOptions) {
    const { input, output, name } = options.method;
    this.#options = options;
    this.#context = { method: name, effect: options.effect, endpoint: options.connection.endpoint.url };
    this.#serialize = (request) => {
      const bytes = toBinary(input, request);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    };
    const { read } = options;
    this.#deserialize = read === undefined ? (bytes) => fromBinary(output, bytes) : (bytes) => read(bytes) as Message;
  }

  async unary(request: Message, options: GrpcCallOptions = {}): Promise<Message> {
    const message = create(this.#options.method.input, request);
    const transport = this.#options.connection.acquire();
    return this.#unary(transport instanceof Promise ? await transport : transport, { message, options });
  }

  #unary({ client, metadata }: Transport, request: { message: Message; options: GrpcCallOptions }): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (request.options.signal?.aborted === true) {
        reject(cancelledError({ ...this.#context, reason: request.options.signal.reason }));
        return;
      }
      const guard = this.#guard(request.options);
      const call = client.makeUnaryRequest<Message, Message>(
        this.#options.path,
        this.#serialize,
        this.#deserialize,
        request.message,
        metadata,
        {},
        (error, response) => {
          guard.end();
          if (error === null && response !== undefined) {
            resolve(response);
          } else {
            reject(guard.ended ?? toNodeletError(error ?? { code: 13, details: "No message received" }, this.#context));
          }
        },
      );
      guard.watch(call);
    });
  }

  async *stream(request: Message, options: GrpcCallOptions = {}): AsyncGenerator<Message, void, undefined> {
    const message = create(this.#options.method.input, request);
    const { client, metadata } = await this.#options.connection.acquire();
    if (options.signal?.aborted === true) {
      throw cancelledError({ ...this.#context, reason: options.signal.reason });
    }
    const guard = this.#guard(options);
    const call = client.makeServerStreamRequest<Message, Message>(
      this.#options.path,
      this.#serialize,
      this.#deserialize,
      message,
      metadata,
      {},
    );
    // The loop below gets every error that matters; one that comes after it was left must not end the process.
    call.on("error", () => {});
    guard.watch(call);
    try {
      yield* call as AsyncIterable<Message>;
    } catch (error) {
      throw guard.ended ?? streamFailure(error, this.#context);
    } finally {
      guard.end();
      call.cancel();
    }
  }

  #guard(options: GrpcCallOptions): CallGuard {
    const { connection, clock, defaultTimeoutMs } = this.#options;
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    return new CallGuard({ context: this.#context, connection, clock, timeoutMs, signal: options.signal });
  }
}

function streamFailure(error: unknown, context: CallContext): NodeletError {
  if (NodeletError.is(error)) return error;
  const { code, details } = error as { code?: unknown; details?: unknown };
  return typeof code === "number" && typeof details === "string"
    ? toNodeletError({ code, details }, context)
    : NodeletError.from(error);
}
