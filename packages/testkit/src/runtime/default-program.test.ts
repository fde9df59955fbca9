import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { InMemoryImages } from "../images/in-memory-images.ts";
import type { ImageDefinition } from "../images/stored-image.ts";
import { defaultProgram } from "./default-program.ts";
import type { ProcessPlan } from "./program.ts";

function planOf(options: { argv: readonly string[]; isPid1?: boolean; image?: Partial<ImageDefinition> }): ProcessPlan {
  const image = new InMemoryImages({ clock: new VirtualClock() }).add({ reference: "localhost/x:1", ...options.image });
  return defaultProgram({
    argv: options.argv,
    env: {},
    image,
    containerId: "c",
    containerName: "app",
    attempt: 0,
    podName: "web",
    podNamespace: "default",
    podUid: "u",
    isPid1: options.isPid1 ?? true,
  });
}

const script = (text: string, isPid1 = true) => planOf({ argv: ["/bin/sh", "-c", text], isPid1 });

describe("defaultProgram", () => {
  it.each([
    [["true"], { exit: { afterMs: 0, exitCode: 0 } }],
    [["/bin/false"], { exit: { afterMs: 0, exitCode: 1 } }],
    [["sleep", "5"], { onStop: "ignore", exit: { afterMs: 5_000, exitCode: 0 } }],
    [["sleep", "1.5m"], { onStop: "ignore", exit: { afterMs: 90_000, exitCode: 0 } }],
    [["sleep", "infinity"], { onStop: "ignore" }],
    [["nginx", "-g", "daemon off;"], {}],
    [["/usr/sbin/nginx"], {}],
    [["/no/such"], { startError: 'exec: "/no/such": stat /no/such: no such file or directory' }],
  ] satisfies [string[], ProcessPlan][])("%j", (argv, plan) => {
    expect(planOf({ argv })).toEqual(plan);
  });

  it("dies of SIGTERM where it is not process 1, since only that one is spared", () => {
    expect(planOf({ argv: ["sleep", "infinity"], isPid1: false })).toEqual({});
    expect(script("sleep 60", false)).toEqual({ exit: { afterMs: 60_000, exitCode: 0 } });
  });

  it("knows the image's own programs", () => {
    expect(planOf({ argv: ["/opt/run"], image: { entrypoint: ["/opt/run"] } })).toEqual({});
    const image = { executables: ["/opt/a", "b"] };
    expect(planOf({ argv: ["/opt/a"], image })).toEqual({});
    expect(planOf({ argv: ["c"], image })).toEqual({ startError: 'exec: "c": executable file not found in $PATH' });
  });

  it.each([
    ["exit 3", { exit: { afterMs: 0, exitCode: 3 } }],
    ["exit 256", { exit: { afterMs: 0, exitCode: 0 } }],
    ["sleep 2; exit 4", { exit: { afterMs: 2_000, exitCode: 4 } }],
    ["false", { exit: { afterMs: 0, exitCode: 1 } }],
    ["sleep 1 && sleep 2\nfalse; exit", { exit: { afterMs: 3_000, exitCode: 1 } }],
    ["false && exit 3; sleep 1", { exit: { afterMs: 1_000, exitCode: 0 } }],
    ["sleep 5 & wait", {}],
    ["while true; do sleep 1; done", {}],
    ["exec sleep infinity", {}],
    ["echo 'a; b' && exit 1", { exit: { afterMs: 0, exitCode: 1 }, output: [{ afterMs: 0, text: "a; b" }] }],
    [
      "sleep 1; echo x >&2",
      { exit: { afterMs: 1_000, exitCode: 0 }, output: [{ afterMs: 1_000, stream: "stderr", text: "x" }] },
    ],
    ["echo why > /dev/termination-log; exit 1", { exit: { afterMs: 0, exitCode: 1 }, terminationMessage: "why\n" }],
  ])("runs the script %j", (text, plan) => {
    expect(script(text)).toEqual({ onStop: "ignore", ...plan });
  });

  it("obeys traps", () => {
    expect(script("trap 'exit 5' TERM; sleep infinity")).toEqual({ onStop: { exitCode: 5 } });
    expect(script("trap '' TERM; sleep infinity", false)).toEqual({ onStop: "ignore" });
  });
});
