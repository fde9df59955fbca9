import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { type PreparedNode, prepareNode } from "@nodelet/dev-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { figuresOf } from "./report.ts";
import { runStartup } from "./run-startup.ts";
import { median, type Sample } from "./samples.ts";

const program = fileURLToPath(new URL("../../packages/cli/bin/nodelet.js", import.meta.url));

describe("a small run on containerd", () => {
  const dir = `${tmpdir()}/nodelet-bench-test-${process.pid}`;
  let node: PreparedNode;
  beforeAll(async () => {
    node = await prepareNode({ dir });
  });
  afterAll(async () => {
    await node.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("starts and removes on both sides, and leaves nothing", async () => {
    const lines: string[] = [];
    const result = await runStartup({
      node,
      agentCommand: [process.execPath, program],
      podCounts: [2],
      behaviours: ["obeys"],
      rounds: 1,
      idleSeconds: 1,
      log: (line) => lines.push(line),
    });
    expect(result.samples.map(({ side, pods, behaviour }) => [side, pods, behaviour])).toEqual([
      ["floor", 2, "obeys"],
      ["agent", 2, "obeys"],
    ]);
    expect(lines).toHaveLength(2);
    // A second of rest may well take no CPU time that the kernel counts.
    for (const { what, value } of figuresOf(result).filter((figure) => figure.unit !== "% of a core")) {
      expect(value, what).toBeGreaterThan(0);
    }
    // The cgroups above those of pods stay for as long as the node does.
    const tiers = /\/nodelet-[0-9a-f]+(\/kubepods(\/(besteffort|burstable))?)?$/;
    const left = await node.containerd.listLeftovers();
    expect(left.filter(({ kind, what }) => kind !== "cgroup" || !tiers.test(what))).toEqual([]);
  });
});

describe("figures", () => {
  const sample = (side: "floor" | "agent", startMs: number, removeMs: number): Sample => ({
    side,
    pods: 3,
    behaviour: "ignores",
    startMs,
    removeMs,
    runtimeCpuMs: { start: startMs, remove: removeMs },
    agent:
      side === "floor"
        ? undefined
        : { healthyMs: 501, startCpuMs: 10, removeCpuMs: 20, idleMegabytes: 80, runningMegabytes: 90 },
  });

  it("are ratios of medians, held against the goals", () => {
    const samples = [
      ...[100, 300, 200].map((ms) => sample("floor", ms, 2 * ms)),
      ...[240, 900, 230].map((ms) => sample("agent", ms, 404)),
    ];
    const idle = { pods: 90, seconds: 60, cpuMsPerSecond: 31, megabytes: 100 };
    const figures = figuresOf({ samples, idle }).map(({ what, value, met }) => [what, Number(value.toFixed(3)), met]);
    expect(figures).toEqual([
      ["start 3", 1.2, true],
      ["start 3, CPU time", 1.25, undefined],
      ["remove 3, SIGTERM ignored", 1.01, false],
      ["remove 3, SIGTERM ignored, CPU time", 1.06, undefined],
      ["process start to healthy", 501, false],
      ["memory without pods", 80, true],
      ["memory just after 3 pods started", 90, undefined],
      ["idle with 90 pods", 3.1, false],
      ["memory with 90 pods at rest", 100, true],
    ]);
  });

  it.each([
    [[3], 3],
    [[1, 9], 5],
    [[9, 1, 4], 4],
    [[4, 1, 2, 9], 3],
  ])("have the median of %j", (values, expected) => {
    expect(median(values)).toBe(expected);
  });
});
