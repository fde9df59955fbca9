import { type AgentPorts, createAgent, defaultAgentConfig, type Pod } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { inMemoryPorts } from "./in-memory-ports.ts";
import { IMAGE, nodeWith, SetSource, staticPod, untilRunning, viewOf } from "./set-source.test-support.ts";

const MINUTE = 60_000;

describe("a source", () => {
  it("whose pod cannot even be judged gets it rejected, once, and other pods run and are cleaned up after", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const resources = { requests: { cpu: "a lot" } };
    const garbage = staticPod({ name: "bad", uid: "u1" }, { containers: [{ name: "c", image: IMAGE, resources }] });
    source.set(garbage, staticPod({ name: "web", uid: "u2" }));
    node.start();
    await node.clock.advance(MINUTE);
    expect(viewOf(node, "u1")?.phase).toBe("rejected");
    expect(viewOf(node, "u2")?.status?.phase).toBe("Running");
    expect(node.logger.records.filter(({ level }) => level === "error").length).toBeLessThanOrEqual(1);
    source.set(garbage);
    await node.clock.advance(2 * MINUTE);
    expect(node.files.list("/var/lib/kubelet/pods")).toEqual([]);
    node.kill();
  });

  it("that speaks ten thousand times while the runtime is away loses nothing and fills nothing", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const [a, b] = [staticPod({ name: "a", uid: "u1" }), staticPod({ name: "b", uid: "u2" })];
    source.set(a, b);
    node.start();
    await untilRunning(node);
    node.runtime.stopDaemon();
    await node.clock.advance(4 * MINUTE);
    for (let turn = 0; turn < 10_000; turn += 1) source.set(...(turn % 2 === 0 ? [a] : [a, b]));
    const c = staticPod({ name: "c", uid: "u3" });
    source.set(b, c);
    node.runtime.startDaemon();
    await node.clock.advance(2 * MINUTE);
    const running = node.runtime.running().map(({ podUid }) => podUid);
    expect(running.sort()).toEqual(["u2", "u3"]);
    expect(node.agent.pods().map(({ pod }) => pod.metadata?.uid)).toEqual(["u2", "u3"]);
    node.kill();
  });
});

describe("listeners of an embedder that throw", () => {
  it("stop no pod", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "web", uid: "u1" }));
    const agent = node.start();
    const fail = (): never => {
      throw new Error("not my day");
    };
    agent.onPodChange(fail);
    agent.decisions.subscribe(fail);
    await untilRunning(node);
    source.set();
    await node.clock.advance(MINUTE);
    expect(node.runtime.sandboxes()).toEqual([]);
    node.kill();
  });
});

/** An agent of its own on ports that a test may hold up. */
function agentOn(decorate: (ports: AgentPorts) => Partial<AgentPorts>, pods: readonly Pod[] = []) {
  const clock = new VirtualClock();
  const ports = inMemoryPorts({ clock });
  ports.images.add(IMAGE);
  const source = new SetSource();
  source.set(...pods);
  const config = defaultAgentConfig("node-1");
  const agent = createAgent({ config, ports: { ...ports, ...decorate(ports) }, sources: [source] });
  return { clock, ports, agent };
}

describe("an agent that is told to stop", () => {
  /** Every call of these ports that the start makes, one after another. */
  it.each(["machine.info", "podFiles.listPods", "state.read", "runtime.version", "runtime.listSandboxes"])(
    "while %s is under way ends",
    async (held) => {
      const [portName = "", method = ""] = held.split(".");
      const stop = new AbortController();
      const { clock, agent } = agentOn((ports) => ({
        [portName]: wrapMethods(ports[portName as keyof AgentPorts] as object, (name, call) => async (...args) => {
          if (name === method) stop.abort();
          return call(...args);
        }),
      }));
      const done = agent.run(stop.signal);
      await clock.advance(1000);
      await expect(done).resolves.toBeUndefined();
      await agent.done;
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it("before it ran ends at once, and does not run twice", async () => {
    const { clock, ports, agent } = agentOn(() => ({}));
    await agent.run(AbortSignal.abort());
    await expect(agent.run(new AbortController().signal)).rejects.toThrow("runs once");
    expect(clock.pendingTimers).toBe(0);
    expect(ports.runtime.calls).toEqual([]);
  });
});
