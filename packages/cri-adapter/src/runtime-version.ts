import { type CallOptions, type Clock, isErrorOfKind, NodeletError, type RuntimeVersion } from "@nodelet/core";
import type { CriRuntimeClient } from "./cri-client.ts";
import type { Connection } from "./grpc/connection.ts";
import { decodeVersion } from "./mapping/runtime.ts";

/**
 * Asks the runtime who it is. When it does not know CRI v1, finds out what it speaks instead: `unsupported` that says
 * whether it offers only an older version or is no container runtime at all.
 */
export async function readVersion(
  options: { readonly client: CriRuntimeClient; readonly connection: Connection; readonly clock: Clock } & CallOptions,
): Promise<RuntimeVersion> {
  const { client, connection, clock, signal } = options;
  try {
    // The argument is the version of the agent's own side, a fixed text in upstream as well.
    return decodeVersion(await client.version({ version: "0.1.0" }, { signal }));
  } catch (error) {
    if (!isErrorOfKind(error, "unsupported")) throw error;
    const server = `the server at ${connection.endpoint.url}`;
    throw new NodeletError(
      "unsupported",
      (await speaksOldVersion({ connection, clock }))
        ? `${server} speaks CRI v1alpha2 only, and v1 is needed: containerd 1.6 or CRI-O 1.23 and later have it`
        : `${server} speaks gRPC but does not offer CRI v1 (${NodeletError.from(error).message}). ` +
            "Is this a container runtime's socket, and is its CRI plugin enabled?",
      { cause: error },
    );
  }
}

/** Longest wait for an answer that only makes an error message better. */
const OLD_VERSION_TIMEOUT_MS = 5000;

async function speaksOldVersion(options: { connection: Connection; clock: Clock }): Promise<boolean> {
  const { client, metadata } = await options.connection.acquire();
  return new Promise((resolve) => {
    const call = client.makeUnaryRequest(
      "/runtime.v1alpha2.RuntimeService/Version",
      () => Buffer.alloc(0),
      (bytes) => bytes,
      undefined,
      metadata,
      {},
      (error) => {
        timer.cancel();
        resolve(error === null);
      },
    );
    const timer = options.clock.setTimer(OLD_VERSION_TIMEOUT_MS, () => call.cancel());
  });
}
