import type { ContainerConfig, Pod } from "@nodelet/core";
import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { IMAGE, newNode, podOf, SECOND, statusOf, untilPhase } from "./cases.test-support.ts";

type Env = NonNullable<NonNullable<Pod["spec"]>["containers"][number]["env"]>;

/** Environment of a container, without the variables of services. */
function envOf(node: SimulatedNode, name: string): Readonly<Record<string, string>> {
  const configs = node.runtime.calls
    .filter(({ call }) => call === "createContainer")
    .map(({ request }) => (request as { readonly config: ContainerConfig }).config);
  const config = configs.find(({ metadata }) => metadata.name === name);
  return Object.fromEntries((config?.envs ?? []).map(({ key, value }) => [key, value]));
}

describe("K22 resources in the environment", () => {
  const env: Env = [
    { name: "REQ", valueFrom: { resourceFieldRef: { resource: "requests.cpu" } } },
    { name: "LIM", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
    { name: "REQ_M", valueFrom: { resourceFieldRef: { resource: "requests.cpu", divisor: "1m" } } },
    { name: "LIM_M", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
    { name: "MEM", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } },
  ];

  it("are rounded up to whole divisors; limits that are absent are what the node can give", async () => {
    const node = newNode({ machine: { cpuCores: 4, memoryBytes: 4_294_967_296n } });
    const command = ["server"];
    const resources = { requests: { cpu: "125m" }, limits: { cpu: "250m", memory: "64Mi" } };
    node.pods.apply(
      podOf("web", {
        containers: [
          { name: "limited", image: IMAGE, command, env, resources },
          { name: "free", image: IMAGE, command, env },
        ],
      }),
    );
    await untilPhase(node, "web", "Running");
    expect(envOf(node, "limited")).toMatchObject({
      REQ: "1",
      LIM: "1",
      REQ_M: "125",
      LIM_M: "250",
      MEM: "67108864",
    });
    // Allocatable memory is the capacity less the hard eviction threshold of 100 Mi.
    expect(envOf(node, "free")).toMatchObject({ REQ: "0", LIM: "4", REQ_M: "0", LIM_M: "4000", MEM: "4190109696" });
  });
});

describe("K23 addresses of a dual-stack pod", () => {
  it("stand in the environment in the order of the status: the node's primary family first", async () => {
    const node = newNode({
      machine: { nodeIps: ["192.0.2.10", "2001:db8::10"] },
      runtime: { ips: { dualStack: true } },
      decorate: (ports) => ({
        ...ports,
        runtime: {
          ...ports.runtime,
          // The network plugin names the other family first.
          sandboxStatus: async (request) => {
            const status = await ports.runtime.sandboxStatus(request);
            return { ...status, ips: [...(status.ips ?? [])].reverse() };
          },
        },
      }),
    });
    const env: Env = ["podIP", "podIPs", "hostIP", "hostIPs"].map((field) => ({
      name: field,
      valueFrom: { fieldRef: { fieldPath: `status.${field}` } },
    }));
    node.pods.apply(podOf("web", { containers: [{ name: "c", image: IMAGE, command: ["server"], env }] }));
    await untilPhase(node, "web", "Running");
    await node.clock.advance(SECOND);
    expect(envOf(node, "c")).toMatchObject({
      podIP: "10.244.0.2",
      podIPs: "10.244.0.2,fd00:10:244::2",
      hostIP: "192.0.2.10",
      hostIPs: "192.0.2.10,2001:db8::10",
    });
    const { podIP, podIPs, hostIPs } = statusOf(node, "web");
    expect([podIP, podIPs, hostIPs]).toEqual([
      "10.244.0.2",
      [{ ip: "10.244.0.2" }, { ip: "fd00:10:244::2" }],
      [{ ip: "192.0.2.10" }, { ip: "2001:db8::10" }],
    ]);
  });
});
