import { type AgentPorts, NodeletError } from "@nodelet/core";
import { expect, it } from "vitest";
import { wrapMethods } from "../faults/wrap-methods.ts";
import { nodeWith, SetSource, staticPod, viewOf } from "./set-source.test-support.ts";

/** Ports whose runtime and images answer nothing while `away` is set. */
function withOutage(state: { away: boolean }): (ports: AgentPorts) => AgentPorts {
  const wrap = <T extends object>(port: T): T =>
    wrapMethods(port, (_, real) => async (...args) => {
      if (state.away) throw new NodeletError("unavailable", "nobody listens on the socket");
      return real(...args);
    });
  return (ports) => ({ ...ports, runtime: wrap(ports.runtime), images: wrap(ports.images) });
}

it("what failed while the runtime was away for some seconds is done within two seconds of its return", async () => {
  const source = new SetSource();
  const state = { away: false };
  const node = nodeWith(source, { decorate: withOutage(state) });
  const [stays, goes, comes] = [
    staticPod({ name: "stays", uid: "u1" }),
    staticPod({ name: "goes", uid: "u2" }),
    staticPod({ name: "comes", uid: "u3" }),
  ];
  source.set(stays, goes);
  node.start();
  await node.clock.advance(10_000);
  expect(viewOf(node, "u2")?.status?.phase).toBe("Running");

  state.away = true;
  source.set(stays, comes);
  await node.clock.advance(8000);
  expect(viewOf(node, "u3")?.status?.phase).toBe("Pending");
  state.away = false;
  await node.clock.advance(2000);
  expect(viewOf(node, "u3")?.status?.phase).toBe("Running");
  expect(viewOf(node, "u1")?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, ready: true });
  // The default grace is not waited out: the program of the test ends when it is told to.
  await node.clock.advance(1000);
  expect(viewOf(node, "u2")).toBeUndefined();
  node.kill();
});
