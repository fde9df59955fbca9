import type { AgentPorts } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { nodeWith, SetSource, staticPod, untilRunning, viewOf } from "./set-source.test-support.ts";

const MINUTE = 60_000;
const never = (): Promise<never> => new Promise(() => undefined);

/** Lets the named call (`podFiles.ensurePod`) about the pod never answer, whatever becomes of its signal. */
function hanging(call: string, podUid: string): (ports: AgentPorts) => AgentPorts {
  const [portName = "", method = ""] = call.split(".");
  return (ports) => ({
    ...ports,
    [portName]: wrapMethods(ports[portName as keyof AgentPorts] as object, (name, real) => (...args) => {
      const isAboutIt =
        name === method &&
        JSON.stringify(args, (_, value) => (typeof value === "bigint" ? String(value) : value)).includes(podUid);
      return isAboutIt ? never() : real(...args);
    }),
  });
}

describe("a call that never answers and heeds no signal", () => {
  it.each([
    "podFiles.ensurePod",
    "podFiles.ensureContainer",
    "podFiles.removePod",
    "containerLogs.highestAttempt",
    "containerLogs.link",
    "containerLogs.removePodLogs",
    "cgroups.ensure",
    "cgroups.destroy",
    "runtime.runSandbox",
    "runtime.createContainer",
    "statusSink.writeStatus",
  ])("%s holds up its pod only, and not the end of the agent", async (call) => {
    const source = new SetSource();
    const node = nodeWith(source, { decorate: hanging(call, "stuck-uid") });
    const stuck = staticPod({ name: "stuck", uid: "stuck-uid" });
    source.set(stuck);
    node.start();
    await node.clock.advance(5000);
    source.set(stuck, staticPod({ name: "web", uid: "u1" }));
    await node.clock.advance(5000);
    expect(viewOf(node, "u1")?.status?.phase).toBe("Running");
    source.set(staticPod({ name: "other", uid: "u2" }));
    await node.clock.advance(30_000);
    expect(viewOf(node, "u1")).toBeUndefined();
    expect(node.files.list("/var/lib/kubelet/pods")).not.toContain("u1");
    const began = node.clock.monotonicMs();
    await node.stop();
    expect(node.clock.monotonicMs() - began).toBeLessThan(1000);
  });
});

describe("housekeeping", () => {
  it("takes nothing from a pod that comes back while what it had left is being removed", async () => {
    const source = new SetSource();
    const node = nodeWith(source, {
      decorate: (ports) => ({
        ...ports,
        podFiles: wrapMethods(ports.podFiles, (name, real) => async (...args) => {
          if (name === "removePod") await new Promise<void>((resolve) => ports.clock.setTimer(5000, resolve));
          return real(...args);
        }),
      }),
    });
    node.files.makeDirectory("/var/lib/kubelet/pods/u1/volumes");
    node.start();
    await node.clock.advance(3000);
    source.set(staticPod({ name: "web", uid: "u1" }));
    await node.clock.advance(MINUTE);
    expect(viewOf(node, "u1")?.status?.phase).toBe("Running");
    expect(node.files.list("/var/lib/kubelet/pods")).toEqual(["u1"]);
    node.kill();
  });

  it("removes every dead sandbox that can be removed, whichever cannot", async () => {
    const source = new SetSource();
    const bad: string[] = [];
    const node = nodeWith(source, {
      decorate: (ports) => ({
        ...ports,
        runtime: wrapMethods(ports.runtime, (name, real) => (...args) => {
          const { sandboxId = "" } = (args[0] ?? {}) as { readonly sandboxId?: string };
          const fails = name === "removeSandbox" && bad.includes(sandboxId);
          return fails ? Promise.reject(new Error("device or resource busy")) : real(...args);
        }),
      }),
    });
    source.set(...["u1", "u2", "u3"].map((uid) => staticPod({ name: uid, uid })));
    node.start();
    await untilRunning(node);
    const first = node.runtime.sandboxes().map(({ id }) => id);
    bad.push(first[0] ?? "");
    for (const id of first) node.runtime.endSandbox(id);
    await node.clock.advance(10_000);
    // The last container of the old sandbox is only kept until a newer one has ended.
    for (const { id } of node.runtime.running()) node.runtime.endContainer({ containerId: id, exitCode: 1 });
    await node.clock.advance(3 * MINUTE);
    const left = node.runtime.sandboxes().map(({ id }) => id);
    expect(first.filter((id) => left.includes(id))).toEqual(bad);
    node.kill();
  });
});
