import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenService } from "@bufbuild/protobuf/codegenv2";
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
} from "@grpc/grpc-js";
import { ImageService, RuntimeService } from "./gen/runtime/v1/api_pb.ts";

type MethodsOf<S> = S extends GenService<infer M> ? M : never;
type AllMethods = MethodsOf<typeof RuntimeService> & MethodsOf<typeof ImageService>;

/** What a scripted procedure may look at. */
export interface ScriptedCall {
  /** Resolves when the client cancelled the call or hung up. */
  readonly cancelled: Promise<void>;
}

/** Answers of a scripted runtime by procedure. A procedure that is left out is Unimplemented, as on an older runtime. */
export type Script = {
  readonly [K in keyof AllMethods]?: AllMethods[K]["methodKind"] extends "unary"
    ? (
        request: MessageShape<AllMethods[K]["input"]>,
        call: ScriptedCall,
      ) => Promise<MessageInitShape<AllMethods[K]["output"]>> | MessageInitShape<AllMethods[K]["output"]>
    : (
        request: MessageShape<AllMethods[K]["input"]>,
        call: ScriptedCall,
      ) => AsyncIterable<MessageInitShape<AllMethods[K]["output"]>>;
};

/** An answer of the runtime that is an error. */
export class ScriptedStatus extends Error {
  readonly code: status;

  constructor(code: keyof typeof status, details: string) {
    super(details);
    this.code = status[code];
  }
}

/** Never answers. */
export const silence = (): Promise<never> => new Promise(() => {});

export const versionAnswer = {
  version: "0.1.0",
  runtimeName: "scripted",
  runtimeVersion: "1.0",
  runtimeApiVersion: "v1",
};

/** A gRPC server on a unix socket of its own, which answers by script. */
export class ScriptedRuntime {
  readonly socketPath: string;
  readonly #directory: string;
  #server: Server | undefined;

  private constructor(directory: string) {
    this.#directory = directory;
    this.socketPath = join(directory, "runtime.sock");
  }

  static async start(script: Script, options: { packageName?: string } = {}): Promise<ScriptedRuntime> {
    const runtime = new ScriptedRuntime(mkdtempSync(join(tmpdir(), "nodelet-cri-")));
    await runtime.serve(script, options);
    return runtime;
  }

  get endpoint(): string {
    return `unix://${this.socketPath}`;
  }

  /** Serves on the same socket, after `stop` as well: a runtime that came back. */
  async serve(script: Script, options: { packageName?: string } = {}): Promise<void> {
    const server = new Server();
    for (const service of [RuntimeService, ImageService]) {
      const typeName = `${options.packageName ?? "runtime.v1"}.${service.name}`;
      const scripted = service.methods.filter((method) => Object.hasOwn(script, method.localName));
      if (scripted.length === 0) continue;
      const definition = Object.fromEntries(
        scripted.map((method) => [method.localName, methodDefinition(method, typeName)]),
      );
      const handlers = Object.fromEntries(
        scripted.map((method) => [
          method.localName,
          handlerOf(method, (script as Record<string, AnyAnswer>)[method.localName]!),
        ]),
      );
      server.addService(definition, handlers as never);
    }
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.socketPath}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.#server = server;
  }

  /** Breaks every connection at once and leaves no socket, as a killed daemon does. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    rmSync(this.socketPath, { force: true });
  }

  close(): void {
    this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

type AnyAnswer = (request: unknown, call: ScriptedCall) => unknown;

function methodDefinition(method: DescMethod, typeName: string): MethodDefinition<unknown, unknown> {
  return {
    path: `/${typeName}/${method.name}`,
    requestStream: false,
    responseStream: method.methodKind !== "unary",
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (value) =>
      Buffer.from(toBinary(method.output, create(method.output, value as Record<string, unknown>))),
    responseDeserialize: (bytes) => bytes,
  };
}

function handlerOf(method: DescMethod, answer: AnyAnswer) {
  if (method.methodKind === "unary") {
    return async (call: ServerUnaryCall<unknown, unknown>, callback: (error: unknown, value?: unknown) => void) => {
      const cancelled = new Promise<void>((resolve) => call.once("cancelled", () => resolve()));
      try {
        callback(null, await answer(call.request, { cancelled }));
      } catch (error) {
        callback(error);
      }
    };
  }
  return async (call: ServerWritableStream<unknown, unknown>) => {
    const cancelled = new Promise<void>((resolve) => call.once("cancelled", () => resolve()));
    try {
      for await (const value of answer(call.request, { cancelled }) as AsyncIterable<unknown>) call.write(value);
      call.end();
    } catch (error) {
      call.emit("error", error);
    }
  };
}
