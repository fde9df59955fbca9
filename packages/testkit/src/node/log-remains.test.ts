import type { AgentPorts } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { IMAGE, nodeWith, SetSource, staticPod } from "./set-source.test-support.ts";
import type { SimulatedNode } from "./simulated-node.ts";

const LOGS = "/var/log/pods/default_web_u1";
const LINKS = "/var/log/containers";

/** Ids at the end of the links' names. */
const linkedIds = (node: SimulatedNode): string[] =>
  node.files
    .list(LINKS)
    .map((name) => /-([0-9a-f]+)\.log$/.exec(name)?.[1] ?? name)
    .sort();

const containerIds = (node: SimulatedNode): string[] =>
  node.runtime
    .containers()
    .map(({ id }) => id)
    .sort();

const crashing = { containers: [{ name: "c", image: IMAGE, command: ["sh", "-c", "echo words; exit 1"] }] };

const talking = { containers: [{ name: "c", image: IMAGE, command: ["sh", "-c", "echo words; sleep infinity"] }] };

describe("what a dead container leaves beside itself", () => {
  it("goes with it: a crash loop has links and logs of the instances that are kept, and of no others", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "web", uid: "u1" }, crashing));
    node.start();
    // Restarts at once, then after 10, 20, 40 and 80 s.
    await node.clock.advance(160_000);
    expect(node.runtime.containers().map(({ metadata }) => metadata.attempt)).toEqual([5]);
    expect(linkedIds(node)).toEqual(containerIds(node));
    expect(node.files.list(`${LOGS}/c`)).toEqual(["5.log"]);

    source.set();
    await node.clock.advance(3000);
    expect(node.files.list(LINKS)).toEqual([]);
    expect(node.files.list("/var/log/pods")).toEqual([]);
    node.kill();
  });

  it("goes when a lost sandbox takes its init containers along", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    const init = [{ name: "i", image: IMAGE, command: ["sh", "-c", "echo words"] }];
    source.set(staticPod({ name: "web", uid: "u1" }, { initContainers: init }));
    node.start();
    await node.clock.advance(5000);
    const [sandbox] = node.runtime.sandboxes();
    node.runtime.endSandbox(sandbox?.id ?? "");
    await node.clock.advance(30_000);
    expect(node.runtime.running()).toHaveLength(1);
    expect(linkedIds(node).every((id) => containerIds(node).includes(id))).toBe(true);
    source.set();
    await node.clock.advance(3000);
    expect(node.files.list(LINKS)).toEqual([]);
    node.kill();
  });

  it("is the restart count, which is kept when the runtime lost every instance and the agent is a new one", async () => {
    const source = new SetSource();
    const node = nodeWith(source);
    source.set(staticPod({ name: "web", uid: "u1" }, crashing));
    node.start();
    await node.clock.advance(35_000);
    expect(node.runtime.containers().map(({ metadata }) => metadata.attempt)).toEqual([3]);
    node.kill();
    for (const { id } of node.runtime.containers()) node.runtime.removeBehind({ id });
    node.start();
    await node.clock.advance(20_000);
    expect(node.runtime.containers().map(({ metadata }) => metadata.attempt)).toEqual([4]);
    node.kill();
  });
});

describe("the link to a log", () => {
  it("is made for a container whose agent was killed before it had made one", async () => {
    const source = new SetSource();
    let lives = 0;
    const decorate = (ports: AgentPorts): AgentPorts => {
      lives += 1;
      const isFirst = lives === 1;
      const containerLogs = wrapMethods(ports.containerLogs, (name, real) => (...args) => {
        return isFirst && name === "link" ? new Promise(() => undefined) : real(...args);
      });
      return { ...ports, containerLogs };
    };
    const node = nodeWith(source, { decorate });
    source.set(staticPod({ name: "web", uid: "u1" }, talking));
    node.start();
    await node.clock.advance(5000);
    expect(node.runtime.running()).toHaveLength(1);
    expect(linkedIds(node)).toEqual([]);
    node.kill();
    node.start();
    await node.clock.advance(5000);
    expect(linkedIds(node)).toEqual(containerIds(node));
    node.kill();
  });
});
