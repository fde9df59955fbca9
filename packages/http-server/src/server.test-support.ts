import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DecisionRecord, Logger, Pod } from "@nodelet/core";
import { afterEach } from "vitest";
import type { NodeletServerData } from "./data/server-data.ts";

/** A folder of its own for each call, removed after the test. */
export function scratchFolders(): () => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "nodelet-http-")));
    folders.push(folder);
    return folder;
  };
}

export const podNamed = (name: string): Pod => ({ metadata: { name, namespace: "default", uid: `uid-${name}` } });

const decision: DecisionRecord = {
  seq: 1,
  atMs: 1_767_323_045_678,
  count: 1,
  action: "start",
  reason: "Started",
  message: "Started container",
  outcome: "ok",
};

/** An agent with two pods that is well; `asked` lists the calls that change something or carry a filter. */
export function fakeData(changes: Partial<NodeletServerData> = {}): NodeletServerData & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    pods: () => [podNamed("web"), podNamed("db")],
    decisions: (filter) => {
      asked.push(JSON.stringify(filter));
      return [decision];
    },
    config: () => ({ nodeName: "n1", big: 9_223_372_036_854_775_807n }),
    status: () => ({ ready: true }),
    healthChecks: () => [{ name: "syncloop", check: () => undefined }],
    stop: () => asked.push("stop"),
    ...changes,
  };
}

/** A logger that keeps the messages of errors. */
export function fakeLogger(): Logger & { readonly errors: string[] } {
  const errors: string[] = [];
  const logger: Logger & { readonly errors: string[] } = {
    errors,
    info: () => {},
    warn: () => {},
    error: (message) => errors.push(message),
    debug: () => {},
    enabled: () => false,
    with: () => logger,
  };
  return logger;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request on a connection of its own. The path is sent as it is. */
export async function ask(options: RequestOptions & { readonly body?: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent: false, ...options }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(options.body);
  });
}
