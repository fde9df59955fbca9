import { type ImageService, NodeletError } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { SeededRandom } from "../random/seeded-random.ts";
import { newRuntime, outcomeOf, sandboxConfig } from "../runtime/runtime.test-support.ts";
import { FaultPlan, type FaultRule } from "./fault-plan.ts";
import { recordCalls } from "./record-calls.ts";
import { withFaults } from "./with-faults.ts";

function faultyRuntime(...rules: FaultRule[]) {
  const { clock, runtime } = newRuntime();
  const plan = new FaultPlan({ clock, random: new SeededRandom("faults"), rules });
  return { clock, runtime, plan, faulty: withFaults(runtime, plan) };
}

const run = (runtime: { runSandbox: (request: never) => Promise<string> }, name: string) =>
  runtime.runSandbox({ config: sandboxConfig({ name }), runtimeHandler: "" } as never);

describe("withFaults", () => {
  it("answers with the planned error and does not make the call", async () => {
    const { runtime, faulty } = faultyRuntime({
      calls: ["runSandbox"],
      fault: { kind: "error", error: "unavailable", message: "no runtime" },
    });
    await expect(run(faulty, "a")).rejects.toMatchObject({ kind: "unavailable", message: "no runtime" });
    expect(await faulty.listSandboxes()).toEqual([]);
    expect(runtime.calls).toEqual([]);
  });

  it("counts: skips, then happens so many times, then lets pass", async () => {
    const { faulty, plan } = faultyRuntime({
      calls: ["version"],
      skip: 1,
      times: 2,
      fault: { kind: "error", error: "internal" },
    });
    const outcomes: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) outcomes.push(await outcomeOf(faulty.version()));
    expect(outcomes).toEqual(["ok", "internal", "internal", "ok", "ok"]);
    expect(plan.records.map(({ call }) => call)).toEqual(["version", "version"]);
  });

  it("looks at requests", async () => {
    const { faulty } = faultyRuntime({
      when: (request) => JSON.stringify(request).includes("uid-bad"),
      fault: { kind: "error", error: "internal" },
    });
    expect([await outcomeOf(run(faulty, "good")), await outcomeOf(run(faulty, "bad"))]).toEqual(["ok", "internal"]);
  });

  it("lets the first rule that matches decide", async () => {
    const { faulty } = faultyRuntime(
      { calls: ["version"], times: 1, fault: { kind: "error", error: "gone" } },
      { fault: { kind: "error", error: "internal" } },
    );
    expect([await outcomeOf(faulty.version()), await outcomeOf(faulty.version())]).toEqual(["gone", "internal"]);
  });

  it("happens about as often as it is likely, and repeats from its seed", async () => {
    const pattern = async () => {
      const { faulty } = faultyRuntime({ probability: 0.25, fault: { kind: "error", error: "internal" } });
      const outcomes: string[] = [];
      for (let turn = 0; turn < 400; turn += 1) outcomes.push(await outcomeOf(faulty.version()));
      return outcomes;
    };
    const first = await pattern();
    const failures = first.filter((outcome) => outcome === "internal").length;
    // 100 expected; the standard deviation of a binomial(400, 0.25) is 8.7.
    expect(Math.abs(failures - 100)).toBeLessThan(45);
    expect(await pattern()).toEqual(first);
  });

  it("delays a call, and a caller that gives up is answered", async () => {
    const { clock, runtime, faulty } = faultyRuntime({
      calls: ["runSandbox"],
      fault: { kind: "delay", delayMs: 5_000 },
    });
    const first = run(faulty, "a");
    const abort = new AbortController();
    const second = outcomeOf(
      faulty.runSandbox({ config: sandboxConfig({ name: "b" }), runtimeHandler: "", signal: abort.signal }),
    );
    await clock.advance(4_999);
    expect(runtime.sandboxes()).toEqual([]);
    abort.abort();
    expect(await second).toBe("cancelled");
    await clock.advance(1);
    await first;
    expect(runtime.sandboxes()).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it("hangs a call until it is released, cancelled or the plan is cleared", async () => {
    const { clock, runtime, plan, faulty } = faultyRuntime({ calls: ["runSandbox"], fault: { kind: "hang" } });
    const first = run(faulty, "a");
    const abort = new AbortController();
    const second = outcomeOf(
      faulty.runSandbox({ config: sandboxConfig({ name: "b" }), runtimeHandler: "", signal: abort.signal }),
    );
    await clock.advance(3_600_000);
    expect([plan.hanging, runtime.sandboxes().length]).toEqual([2, 0]);
    abort.abort();
    expect(await second).toBe("cancelled");
    plan.clear();
    await first;
    await run(faulty, "c");
    expect([plan.hanging, runtime.sandboxes().length]).toEqual([0, 2]);
  });

  it("loses an answer: the call is made, the client cannot know", async () => {
    const { runtime, faulty } = faultyRuntime({ calls: ["runSandbox"], times: 1, fault: { kind: "lostAnswer" } });
    expect(await outcomeOf(run(faulty, "a"))).toBe("unknownOutcome");
    expect(runtime.sandboxes()).toHaveLength(1);
    expect(await outcomeOf(run(faulty, "a"))).toBe("alreadyExists");
  });

  it("leaves methods that answer at once, and members that are no methods, as they are", async () => {
    const { clock, faulty } = faultyRuntime({ calls: ["version"], fault: { kind: "error", error: "internal" } });
    expect([faulty.calls, faulty.ipsTaken, faulty.sandboxes()]).toEqual([[], 0, []]);
    const counter = { count: 1, increment: () => (counter.count += 1) };
    const wrapped = withFaults(counter, new FaultPlan({ clock, random: new SeededRandom() }));
    wrapped.count = 5;
    expect([wrapped.increment(), counter.count, wrapped.count]).toEqual([6, 6, 6]);
  });
});

describe("recordCalls", () => {
  it("notes calls with request, time and outcome, without signals and callbacks", async () => {
    const { clock, runtime } = newRuntime();
    const { port, journal } = recordCalls<ImageService>(runtime.images, { clock });
    const startMs = clock.nowMs();
    await port.imageStatus({ image: { image: "localhost/busybox:1.35" }, signal: new AbortController().signal });
    await clock.advance(10);
    await outcomeOf(
      port.pullImage({ image: { image: "localhost/absent:1" }, sandboxConfig: sandboxConfig(), onProgress: () => {} }),
    );
    expect(journal.calls).toMatchObject([
      { call: "imageStatus", request: { image: { image: "localhost/busybox:1.35" } }, atMs: startMs, outcome: "ok" },
      { call: "pullImage", atMs: startMs + 10, outcome: "internal" },
    ]);
    expect(journal.calls.flatMap(({ request }) => Object.keys(request))).toEqual(["image", "image", "sandboxConfig"]);
  });

  it("notes only the calls it is told to, and those that answer at once as ok", () => {
    const clock = new VirtualClock();
    const { port, journal } = recordCalls({ yes: () => 1, no: () => 2 }, { clock, only: ["yes"] });
    expect([port.yes(), port.no()]).toEqual([1, 2]);
    expect(journal.calls).toMatchObject([{ call: "yes", outcome: "ok" }]);
  });

  it("passes errors on as they are", async () => {
    const error = new NodeletError("gone", "away");
    const { port } = recordCalls({ fail: () => Promise.reject(error) }, { clock: new VirtualClock() });
    await expect(port.fail()).rejects.toBe(error);
  });
});
