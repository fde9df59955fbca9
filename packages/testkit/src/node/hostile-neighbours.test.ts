import { type AgentPorts, createAgent, defaultAgentConfig, type Pod, type PodSource } from "@nodelet/core";
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

  it("that gives no list of pods keeps the ones that it gave before, and is listened to again", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "web", uid: "u1" }));
    node.start();
    await untilRunning(node);
    source.set(...([null, undefined, 7] as unknown as Pod[]));
    await node.clock.advance(MINUTE);
    expect(node.runtime.running().map(({ podUid }) => podUid)).toEqual(["u1"]);
    source.set(staticPod({ name: "next", uid: "u2" }));
    await node.clock.advance(MINUTE);
    expect(node.runtime.running().map(({ podUid }) => podUid)).toEqual(["u2"]);
    node.kill();
  });

  it("that does not end when it is told to holds up the end of the agent for seconds only", async () => {
    const source: PodSource = { name: "deaf", run: () => new Promise(() => undefined) };
    const node = nodeWith(source);
    node.start();
    await node.clock.advance(MINUTE);
    const began = node.clock.monotonicMs();
    await node.stop();
    expect(node.clock.monotonicMs() - began).toBeLessThanOrEqual(5000);
  });
});

describe("a runtime", () => {
  it("that does not tell when a container ended gets no crash loop without back-off", async () => {
    const source = new SetSource();
    const node = nodeWith(source, {
      runtime: { latencyMs: () => 5 },
      decorate: (ports) => ({
        ...ports,
        runtime: wrapMethods(ports.runtime, (name, real) => async (...args) => {
          const answer = await real(...args);
          return name === "containerStatus" ? { ...(answer as object), finishedAtNs: 0n } : answer;
        }),
      }),
    });
    const containers = [{ name: "c", image: IMAGE, command: ["sh", "-c", "exit 1"] }];
    source.set(staticPod({ name: "loop", uid: "u1" }, { containers }));
    node.start();
    await node.clock.advance(5 * MINUTE);
    // At once, and after 10, 20, 40, 80 and 160 s at the latest.
    expect(node.runtime.calls.filter(({ call }) => call === "startContainer").length).toBeLessThanOrEqual(7);
    node.kill();
  });

  it("that has pods under names that no pod can have is rid of them, and of nothing else, when told to take over", async () => {
    const source = new SetSource();
    const node = nodeWith(source, { config: { takeOver: true } });
    node.files.makeDirectory("/var/log/pods/other");
    for (const uid of ["../../x", "a/b", "a_b", ".."]) {
      await node.runtime.runSandbox({
        config: {
          metadata: { name: "../etc", namespace: "n/s", uid, attempt: 0 },
          labels: {
            "io.kubernetes.pod.uid": uid,
            "io.kubernetes.pod.name": "../etc",
            "io.kubernetes.pod.namespace": "n/s",
          },
        },
        runtimeHandler: "",
      });
    }
    node.start();
    await node.clock.advance(MINUTE);
    expect(node.runtime.sandboxes()).toEqual([]);
    expect(node.agent.pods()).toEqual([]);
    expect(node.files.list("/var/log/pods")).toEqual(["other"]);
    expect(node.logger.records.filter(({ level }) => level === "error")).toEqual([]);
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
