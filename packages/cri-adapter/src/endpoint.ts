import { NodeletError } from "@nodelet/core";

/** A runtime's address. */
export interface CriEndpoint {
  /** Absolute path of the unix socket. */
  readonly socketPath: string;
  /** `unix://` and the path: how messages name it. */
  readonly url: string;
  /** True for a bare path, which the kubelet still takes but warns of. */
  readonly deprecatedForm: boolean;
}

/** Longest path that fits sockaddr_un, less the closing zero byte (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Reads `unix:///absolute/path`; a bare absolute path is taken as well, as the kubelet does.
 * Throws `invalid` that says what was expected for every other form.
 */
export function parseEndpoint(endpoint: string): CriEndpoint {
  const expected = `expected a unix socket such as unix:///run/containerd/containerd.sock`;
  const refuse = (problem: string): NodeletError =>
    new NodeletError("invalid", `runtime endpoint ${JSON.stringify(endpoint)}: ${problem}; ${expected}`);
  if (endpoint === "") {
    throw refuse("it is empty");
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(endpoint)?.[1];
  if (scheme !== undefined && scheme.toLowerCase() !== "unix") {
    throw refuse(`the protocol ${scheme} is not supported`);
  }
  const socketPath = scheme === undefined ? endpoint : endpoint.slice(scheme.length + 1).replace(/^\/\/(?=\/)/, "");
  if (!socketPath.startsWith("/") || socketPath.startsWith("//")) {
    throw refuse("the path is not absolute");
  }
  if (socketPath.includes("\0") || /[?#]/.test(socketPath)) {
    throw refuse("the path holds a character that an endpoint cannot hold");
  }
  if (new TextEncoder().encode(socketPath).length > MAX_SOCKET_PATH_BYTES) {
    throw refuse(`the path is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that a socket address holds`);
  }
  return { socketPath, url: `unix://${socketPath}`, deprecatedForm: scheme === undefined };
}
