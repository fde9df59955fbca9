import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { DevNodeError } from "../errors.ts";

/**
 * The three CRI questions that this package asks itself, to learn when a runtime is ready. It is a hand-made client on
 * purpose: the real one is under test with this node's help. Message layouts are those of CRI v1 (runtime/v1/api.proto).
 */
export interface CriProbe {
  /** The conditions of RuntimeService.Status by type: "RuntimeReady", "NetworkReady". */
  readConditions(): Promise<Map<string, boolean>>;
  /** Tags of every image that ImageService.ListImages shows. */
  listImageTags(): Promise<string[]>;
  /** How many pod sandboxes RuntimeService.ListPodSandbox shows, in any state. */
  countSandboxes(): Promise<number>;
  close(): void;
}

/** Opens a probe of a CRI endpoint. `timeoutMs` bounds each question. */
export function openCriProbe(options: { socketPath: string; timeoutMs: number }): CriProbe {
  const session = connect("http://localhost", { createConnection: () => connectSocket(options.socketPath) });
  // An absent or refusing socket also fails the request in flight, which is where the caller hears of it.
  session.on("error", () => {});
  const ask = (method: string): Promise<Buffer> => callUnary({ session, method, timeoutMs: options.timeoutMs });
  return {
    async readConditions() {
      const status = readFields(await ask("RuntimeService/Status")).find(({ field }) => field === 1)?.bytes;
      const conditions = readFields(status ?? Buffer.alloc(0)).filter(({ field }) => field === 1);
      return new Map(
        conditions.map(({ bytes }) => {
          const fields = readFields(bytes);
          const type = fields.find(({ field }) => field === 1)?.bytes.toString() ?? "";
          return [type, fields.some(({ field, varint }) => field === 2 && varint === 1)] as const;
        }),
      );
    },
    async listImageTags() {
      const images = readFields(await ask("ImageService/ListImages")).filter(({ field }) => field === 1);
      return images.flatMap(({ bytes }) =>
        readFields(bytes)
          .filter(({ field }) => field === 2)
          .map((tag) => tag.bytes.toString()),
      );
    },
    async countSandboxes() {
      return readFields(await ask("RuntimeService/ListPodSandbox")).filter(({ field }) => field === 1).length;
    },
    close: () => session.destroy(),
  };
}

interface UnaryCall {
  session: ClientHttp2Session;
  method: string;
  timeoutMs: number;
}

/** One unary gRPC call with an empty request message (gRPC over HTTP/2: one length-prefixed message each way). */
function callUnary({ session, method, timeoutMs }: UnaryCall): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new DevNodeError("start", `CRI call ${method}: ${why}`));
    const stream = session.request({
      ":method": "POST",
      ":path": `/runtime.v1.${method}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.setTimeout(timeoutMs, () => {
      fail(`no answer within ${timeoutMs} ms`);
      stream.close();
    });
    const chunks: Buffer[] = [];
    let status: string | undefined;
    let message = "";
    const readStatus = (headers: Record<string, unknown>): void => {
      status = headers["grpc-status"] === undefined ? status : String(headers["grpc-status"]);
      message = headers["grpc-message"] === undefined ? message : decodeURIComponent(String(headers["grpc-message"]));
    };
    stream.on("response", readStatus);
    stream.on("trailers", readStatus);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error) => fail(error.message));
    stream.on("close", () => fail("the connection was closed"));
    stream.on("end", () => {
      if (status === "0") {
        resolve(Buffer.concat(chunks).subarray(5));
      } else {
        fail(`gRPC status ${status ?? "missing"} ${message}`);
      }
    });
    stream.end(Buffer.alloc(5));
  });
}

interface WireField {
  field: number;
  varint: number;
  bytes: Buffer;
}

/** Splits a protobuf message into its fields (protobuf encoding guide: tag = field << 3 | wire type). */
function readFields(message: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    const wireType = tag & 7;
    const varint = wireType === 0 ? readVarint() : 0;
    const length = wireType === 2 ? readVarint() : wireType === 1 ? 8 : wireType === 5 ? 4 : 0;
    fields.push({ field: Math.floor(tag / 8), varint, bytes: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}
