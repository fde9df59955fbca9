import { MemoryLogger, VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../decisions/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { HttpAnswer, HttpGetRequest } from "../../ports/http-fetch.ts";
import { UrlPodSource } from "./url-pod-source.ts";

const PERIOD_MS = 20_000;
const POD =
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i"}]}}';
const LIST = `{"apiVersion":"v1","kind":"PodList","items":[${POD.replace('"web"', '"a"')},${POD.replace('"web"', '"b"')}]}`;

type Reply = string | { readonly status: number; readonly text: string } | NodeletError;

async function run(replies: readonly Reply[]) {
  const clock = new VirtualClock();
  const requests: HttpGetRequest[] = [];
  const sets: (string | undefined)[][] = [];
  const faults: string[] = [];
  const logger = new MemoryLogger();
  const stop = new AbortController();
  const source = new UrlPodSource({
    clock,
    logger,
    url: "https://user:secret@config.example/pods?token=secret",
    headers: [["X-Token", "secret"]],
    nodeName: "n1",
    httpCheckFrequencyMs: PERIOD_MS,
    fetch: {
      get: async (request): Promise<HttpAnswer> => {
        const reply = replies[Math.min(requests.length, replies.length - 1)] ?? "";
        requests.push(request);
        if (reply instanceof NodeletError) throw reply;
        const { status, text } = typeof reply === "string" ? { status: 200, text: reply } : reply;
        return { status, statusText: status === 200 ? "OK" : "Not Found", body: new TextEncoder().encode(text) };
      },
    },
  });
  const done = source.run({
    onPods: (pods) => sets.push(pods.map((pod) => pod.metadata?.name)),
    decisions: { record: (decision: Decision) => faults.push(decision.message) },
    signal: stop.signal,
  });
  await clock.advance((replies.length - 1) * PERIOD_MS + 1);
  stop.abort();
  await done;
  return { clock, requests, sets, faults, logger };
}

describe("pods from a URL", () => {
  it("are asked for every period, with headers and bounds", async () => {
    const { requests, sets, clock } = await run([POD, LIST, LIST]);
    expect(sets).toEqual([["web-n1"], ["a-n1", "b-n1"]]);
    expect(requests).toHaveLength(3);
    expect(requests[0]).toMatchObject({
      headers: [["X-Token", "secret"]],
      timeoutMs: 10_000,
      maxBytes: 10 * 1024 * 1024,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it("have no toleration of their own and a UID of the URL", async () => {
    const { sets } = await run([POD]);
    expect(sets).toEqual([["web-n1"]]);
  });

  it.each<[string, Reply, string]>([
    [
      "no connection",
      new NodeletError("unavailable", "connection refused"),
      "Failed to read pods from URL: connection refused",
    ],
    [
      "another status",
      { status: 404, text: POD },
      "Failed to read pods from URL: https://config.example/pods: 404 Not Found",
    ],
    [
      "nonsense",
      "nonsense",
      "Failed to read pods from URL: https://config.example/pods:1:1: expected an object of kind Pod, found a single value",
    ],
  ])("stand as they were after %s, which is told without secrets", async (_, reply, fault) => {
    const { sets, faults, logger } = await run([POD, reply, POD]);
    expect(sets).toEqual([["web-n1"]]);
    expect(faults).toEqual([fault]);
    expect(logger.records.map((record) => record.message)).toContain("Successfully read pods from URL");
    expect(JSON.stringify([faults, logger.records])).not.toContain("secret");
  });

  it("are none after an empty answer, which is told", async () => {
    const { sets, faults } = await run([POD, ""]);
    expect(sets).toEqual([["web-n1"], []]);
    expect(faults).toEqual([
      "Failed to read pods from URL: zero-length data received from https://config.example/pods",
    ]);
  });

  it("fail aloud three times in a row, then quietly", async () => {
    const { faults, logger } = await run(Array(6).fill(new NodeletError("unavailable", "away")));
    expect(faults).toHaveLength(3);
    expect(logger.records.filter((record) => record.level === "debug")).toHaveLength(3);
  });
});
