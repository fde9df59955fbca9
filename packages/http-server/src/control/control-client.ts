import type { IncomingMessage } from "node:http";
import { basename, dirname } from "node:path";
import { type DecisionRecord, NodeletError, type Pod, parseJson } from "@nodelet/core";
import { errnoOf, SafeDirectory } from "@nodelet/lib-safe-fs";

// Not imported: see bounded-server.ts.
const { request: httpRequest } = process.getBuiltinModule("node:http");

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Asks a running agent over its control socket. Every call throws `unavailable` when no agent listens, `permission` when the socket may not be
 * opened, `deadline` after 10 s.
 */
export class ControlClient {
  readonly #path: string;

  constructor(options: { readonly socketPath: string }) {
    this.#path = options.socketPath;
  }

  /** Pods with their status. */
  async pods(): Promise<readonly Pod[]> {
    return items<Pod>(await this.#call("GET", "/pods"));
  }

  /** Decisions, oldest first; of one pod (UID, `namespace/name` or name) or of all. */
  async decisions(filter: { readonly pod?: string } = {}): Promise<readonly DecisionRecord[]> {
    const query = filter.pod === undefined ? "" : `?${new URLSearchParams({ pod: filter.pod }).toString()}`;
    return items<DecisionRecord>(await this.#call("GET", `/decisions${query}`));
  }

  /** The configuration in force. */
  async config(): Promise<unknown> {
    return this.#call("GET", "/config");
  }

  /** How the agent is. */
  async status(): Promise<unknown> {
    return this.#call("GET", "/status");
  }

  /** Asks the agent to stop; it has begun to when this resolves. */
  async stop(): Promise<void> {
    await this.#call("POST", "/stop");
  }

  async #call(method: "GET" | "POST", path: string): Promise<unknown> {
    try {
      const { status, text } = await this.#exchange(method, path);
      if (status >= 200 && status < 300) return parseJson(text, { source: `answer to ${method} ${path}` });
      throw new NodeletError("internal", `the agent answered ${status}: ${text.trim().slice(0, 500)}`);
    } catch (error) {
      throw clientError(this.#path, error);
    }
  }

  async #exchange(method: string, path: string): Promise<{ readonly status: number; readonly text: string }> {
    // Through the open directory, since the address of a socket holds 107 bytes.
    const directory = await SafeDirectory.open(dirname(this.#path));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const socketPath = directory.at(basename(this.#path));
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = httpRequest(
          { socketPath, method, path, agent: false, signal, headers: { host: "nodelet" } },
          resolve,
        );
        request.once("error", reject);
        request.end();
      });
      return { status: response.statusCode ?? 0, text: await readText(response) };
    } catch (error) {
      if (signal.aborted) throw new NodeletError("deadline", `no answer within ${TIMEOUT_MS} ms`, { cause: error });
      throw error;
    } finally {
      await directory.close();
    }
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > MAX_ANSWER_BYTES)
      throw new NodeletError("resourceExhausted", `the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function items<T>(answer: unknown): readonly T[] {
  const list = typeof answer === "object" && answer !== null ? (answer as { items?: unknown }).items : undefined;
  if (!Array.isArray(list)) throw new NodeletError("internal", "the agent's answer is not a list");
  return list as readonly T[];
}

function clientError(path: string, error: unknown): NodeletError {
  if (NodeletError.is(error)) return error;
  const code = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === "EACCES" || code === "EPERM") {
    return new NodeletError("permission", `the control socket ${path} may only be used by its owner: try as root`, {
      cause: error,
    });
  }
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ECONNREFUSED" || code === "ENOTSOCK") {
    const advice = "is an agent running with this --root-dir?";
    return new NodeletError("unavailable", `no agent listens on ${path}: ${advice}`, { cause: error });
  }
  return new NodeletError("unavailable", `the agent on ${path} cannot be asked: ${message}`, { cause: error });
}
