import { connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { DevNodeError } from "../errors.ts";

/** A connection to a gRPC server on a UNIX socket. */
export interface GrpcChannel {
  /**
   * One unary call: "RuntimeService/Version" of package runtime.v1, with an encoded request message.
   * Fails with a `start` error that holds the gRPC status, or says that there was no answer in time.
   */
  call(method: string, request?: Uint8Array): Promise<Buffer>;
  close(): void;
}

/**
 * A hand-made gRPC client for the few questions this package asks itself (gRPC over HTTP/2: one length-prefixed message
 * each way). Hand-made on purpose: the real client is under test with this node's help.
 */
export function openGrpcChannel(options: { socketPath: string; timeoutMs: number }): GrpcChannel {
  const { timeoutMs } = options;
  const session = connect("http://localhost", { createConnection: () => connectSocket(options.socketPath) });
  // An absent or refusing socket also fails the request in flight, which is where the caller hears of it.
  session.on("error", () => {});
  const call = (method: string, request: Uint8Array = new Uint8Array()): Promise<Buffer> =>
    new Promise((resolve, reject) => {
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
      const readStatus = (headers: IncomingHttpHeaders): void => {
        status = headers["grpc-status"]?.toString() ?? status;
        message = decodeURIComponent(headers["grpc-message"]?.toString() ?? message);
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
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(request.length, 1);
      stream.end(Buffer.concat([prefix, request]));
    });
  return { call, close: () => session.destroy() };
}

/** One field of a protobuf message: `varint` for wire type 0, `bytes` for wire type 2. */
export interface WireField {
  field: number;
  varint: number;
  bytes: Buffer;
}

/** Splits a protobuf message into its fields (protobuf encoding guide: tag = field << 3 | wire type). */
export function readFields(message: Buffer): WireField[] {
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
