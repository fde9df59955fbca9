import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SeededRandom } from "../random/seeded-random.ts";
import type { InMemoryRuntime } from "./in-memory-runtime.ts";
import { containerConfig, newRuntime, outcomeOf, sandboxConfig } from "./runtime.test-support.ts";
import type { RuntimeChange } from "./runtime-change.ts";
import { containerdLatency } from "./runtime-options.ts";

/** Edges that containerd allows; a removal may come from any state, since it kills first. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  "": ["SANDBOX_READY", "CONTAINER_CREATED"],
  SANDBOX_READY: ["SANDBOX_NOTREADY"],
  SANDBOX_NOTREADY: [""],
  CONTAINER_CREATED: ["CONTAINER_RUNNING", "CONTAINER_EXITED", ""],
  CONTAINER_RUNNING: ["CONTAINER_EXITED"],
  CONTAINER_EXITED: [""],
};

const pod = fc.constantFrom("a", "b");
const step = fc.oneof(
  fc.record({ do: fc.constant("run" as const), pod, attempt: fc.nat(1) }),
  fc.record({
    do: fc.constantFrom("create" as const, "start" as const, "stop" as const, "remove" as const),
    pick: fc.nat(7),
  }),
  fc.record({ do: fc.constantFrom("stopSandbox" as const, "removeSandbox" as const), pick: fc.nat(3) }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 5_000 }) }),
  fc.record({ do: fc.constantFrom("abortAll" as const, "restart" as const, "reboot" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Makes one call, without waiting for it. */
function call(runtime: InMemoryRuntime, taken: Step, signal: AbortSignal): Promise<unknown> {
  const sandboxes = runtime.sandboxes();
  const containers = runtime.containers();
  const sandboxId = ("pick" in taken ? sandboxes[taken.pick]?.id : undefined) ?? "none";
  const containerId = ("pick" in taken ? containers[taken.pick]?.id : undefined) ?? "none";
  switch (taken.do) {
    case "run": {
      const config = sandboxConfig({ name: taken.pod, attempt: taken.attempt });
      return runtime.runSandbox({ config, runtimeHandler: "", signal });
    }
    case "create": {
      const sandbox = sandboxes[taken.pick % Math.max(1, sandboxes.length)];
      const config = containerConfig({ name: `c${taken.pick}`, command: ["sleep", String(taken.pick)] });
      const sandboxOf = sandboxConfig({ name: sandbox?.metadata.name ?? "a" });
      return runtime.createContainer({ sandboxId: sandbox?.id ?? "none", config, sandboxConfig: sandboxOf, signal });
    }
    case "start":
      return runtime.startContainer({ containerId, signal });
    case "stop":
      return runtime.stopContainer({ containerId, timeoutSeconds: 2, signal });
    case "remove":
      return runtime.removeContainer({ containerId, signal });
    case "stopSandbox":
      return runtime.stopSandbox({ sandboxId, signal });
    case "removeSandbox":
      return runtime.removeSandbox({ sandboxId, signal });
    default:
      return Promise.resolve();
  }
}

describe("any calls at once, given up or broken by restarts", () => {
  it("take only legal edges, fail only in known ways, and leave nothing once all sandboxes are removed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(), async (steps, seed) => {
        const random = new SeededRandom(seed);
        const { clock, runtime } = newRuntime({ random, latencyMs: containerdLatency(random.fork("latency")) });
        const illegal: RuntimeChange[] = [];
        runtime.onChange((change) => {
          if (!LEGAL[change.from ?? ""]?.includes(change.to ?? "")) illegal.push(change);
        });
        let abort = new AbortController();
        const outcomes: Promise<string>[] = [];
        for (const taken of steps) {
          if (taken.do === "pass") await clock.advance(taken.ms);
          else if (taken.do === "abortAll") {
            abort.abort();
            abort = new AbortController();
          } else if (taken.do === "restart") runtime.restartDaemon({ downMs: 500 });
          else if (taken.do === "reboot") runtime.reboot();
          else outcomes.push(outcomeOf(call(runtime, taken, abort.signal)));
        }
        await clock.advance(10_000);
        const known = ["ok", "alreadyExists", "notFound", "internal", "cancelled", "unavailable", "unknownOutcome"];
        for (const outcome of await Promise.all(outcomes)) expect(known).toContain(outcome);
        expect(illegal).toEqual([]);

        for (const { id } of runtime.sandboxes()) await clock.drive(runtime.removeSandbox({ sandboxId: id }));
        expect([runtime.sandboxes(), runtime.containers(), runtime.ipsTaken]).toEqual([[], [], 0]);
        expect(clock.pendingTimers).toBe(0);
        // Every name is free again.
        for (const name of ["a", "b"]) {
          for (const attempt of [0, 1]) {
            const config = sandboxConfig({ name, attempt });
            await clock.drive(runtime.runSandbox({ config, runtimeHandler: "" }));
          }
        }
      }),
      { numRuns: 300, seed: 20_260_102 },
    );
  });

  it("run the same again from the same seed", async () => {
    const run = async (seed: number) => {
      const random = new SeededRandom(seed);
      const { clock, runtime } = newRuntime({ random, latencyMs: containerdLatency(random.fork("latency")) });
      const changes: RuntimeChange[] = [];
      runtime.onChange((change) => changes.push(change));
      for (let turn = 0; turn < 20; turn += 1) {
        const abort = new AbortController();
        const config = sandboxConfig({ name: `p${turn % 3}`, attempt: turn });
        void outcomeOf(runtime.runSandbox({ config, runtimeHandler: "", signal: abort.signal }));
        await clock.advance(random.int({ min: 0, max: 150 }));
        if (random.chance(0.5)) abort.abort();
      }
      await clock.advance(1_000);
      return changes;
    };
    const first = await run(5);
    expect(first.length).toBeGreaterThan(5);
    expect(await run(5)).toEqual(first);
  });
});
