import { describe, expect, it } from "vitest";
import type { Pod, PodStatus, ResourceRequirements } from "../api/index.ts";
import type { Decision } from "../decisions/decision.ts";
import { Allocations, allocationOf, withAllocated } from "./allocations.ts";

function podOf(resources: ResourceRequirements, more: { generation?: number; status?: PodStatus } = {}): Pod {
  const { generation = 1, status } = more;
  return {
    metadata: { uid: "u1", name: "web", namespace: "default", generation },
    spec: {
      containers: [
        { name: "app", image: "i", resources },
        { name: "beside", resources: {} },
      ],
      initContainers: [{ name: "side", restartPolicy: "Always", resources: { requests: { cpu: "10m" } } }],
    },
    ...(status && { status }),
  };
}

function ledger(): { readonly allocations: Allocations; readonly decisions: Decision[] } {
  const decisions: Decision[] = [];
  return {
    allocations: new Allocations({ decisions: { record: (decision) => void decisions.push(decision) } }),
    decisions,
  };
}

const small = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m" } };
const large = { requests: { cpu: "500m", memory: "64Mi" }, limits: { cpu: "1" } };

describe("the ledger of allocations", () => {
  it("gives a pod what it asks for when it is first seen, as the same object", () => {
    const { allocations, decisions } = ledger();
    const pod = podOf(small);
    expect(allocations.take(pod)).toBe(pod);
    expect(allocations.resizeOf("u1")).toEqual({ pending: undefined });
    expect(decisions).toEqual([]);
  });

  it("keeps what was allocated in force when other resources are asked for, and says so once", () => {
    const { allocations, decisions } = ledger();
    allocations.take(podOf(small));
    const held = allocations.take(podOf(large, { generation: 2 }));
    expect(held.spec?.containers[0]?.resources).toEqual(small);
    expect(held.metadata?.generation).toBe(2);
    expect(allocations.resizeOf("u1").pending).toMatchObject({
      reason: "Infeasible",
      observedGeneration: 2,
      message: expect.stringContaining("container app") as string,
    });
    // Another change of the pod is no other resize: the condition keeps the generation that asked for it.
    allocations.take(podOf(large, { generation: 3 }));
    expect(allocations.resizeOf("u1").pending?.observedGeneration).toBe(2);
    expect(decisions.map(({ event }) => [event?.type, event?.reason])).toEqual([["Warning", "ResizeInfeasible"]]);
    expect(decisions[0]?.event?.message).toMatch(
      /^Pod resize Infeasible: \{"initContainers":\[\{"name":"side",.*\}\],"containers":\[\{"name":"app",.*"500m".*"generation":2,"error":/,
    );
  });

  it("tells a second, different resize anew, and forgets one that is taken back", () => {
    const { allocations, decisions } = ledger();
    allocations.take(podOf(small));
    allocations.take(podOf(large, { generation: 2 }));
    allocations.take(podOf({ ...large, limits: { cpu: "2" } }, { generation: 3 }));
    expect(allocations.resizeOf("u1").pending?.observedGeneration).toBe(3);
    expect(decisions.length).toBe(2);
    const back = podOf({ requests: { cpu: "0.1", memory: "65536Ki" }, limits: { cpu: "200m" } }, { generation: 4 });
    expect(allocations.take(back)).toBe(back);
    expect(allocations.resizeOf("u1")).toEqual({ pending: undefined });
    expect(decisions.length).toBe(2);
  });

  it.each<[string, (pod: Pod) => Pod, string]>([
    [
      "a sidecar",
      (pod) => ({
        ...pod,
        spec: {
          containers: pod.spec?.containers ?? [],
          initContainers: [{ name: "side", restartPolicy: "Always", resources: { requests: { cpu: "20m" } } }],
        },
      }),
      "container side",
    ],
    [
      "the pod as a whole",
      (pod) => ({ ...pod, spec: { containers: [], ...pod.spec, resources: { limits: { cpu: "1" } } } }),
      "the pod",
    ],
    [
      "a limit where there was none",
      (pod) => ({
        ...pod,
        spec: {
          ...pod.spec,
          containers: [
            ...(pod.spec?.containers.slice(0, 1) ?? []),
            { name: "beside", resources: { limits: { memory: "1Gi" } } },
          ],
        },
      }),
      "container beside",
    ],
  ])("sees a resize of %s", (_, resize, words) => {
    const { allocations } = ledger();
    const pod = podOf(small);
    allocations.take(pod);
    expect(allocations.take(resize(pod)).spec).toEqual(pod.spec);
    expect(allocations.resizeOf("u1").pending?.message).toContain(words);
  });

  it("says nothing of a pod that is on its way out", () => {
    const { allocations, decisions } = ledger();
    allocations.take(podOf(small));
    const pod = podOf(large, { generation: 2 });
    const leaving = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(allocations.take(leaving).spec?.containers[0]?.resources).toEqual(small);
    expect([allocations.resizeOf("u1").pending, decisions]).toEqual([undefined, []]);
  });

  it("holds nothing of a pod that left", () => {
    const { allocations } = ledger();
    allocations.take(podOf(small));
    allocations.forget("u1");
    expect(allocations.size).toBe(0);
    const pod = podOf(large);
    expect(allocations.take(pod)).toBe(pod);
  });
});

describe("what was allocated before a restart of the agent", () => {
  const shown: PodStatus = {
    observedGeneration: 1,
    containerStatuses: [
      {
        name: "app",
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
        allocatedResources: small.requests,
        resources: small,
      },
    ],
  };
  const told = {
    type: "PodResizePending",
    status: "True",
    reason: "Infeasible",
    message: "as it was told",
    observedGeneration: 2,
  };

  it.each<[string, Pod, ResourceRequirements]>([
    ["the spec, where the status is of this generation", podOf(large, { status: shown }), large],
    ["the spec, where there is no status", podOf(large, { generation: 2 }), large],
    ["the status, where the pod changed meanwhile", podOf(large, { generation: 2, status: shown }), small],
    [
      "the status, where a resize was pending",
      podOf(large, { generation: 2, status: { ...shown, observedGeneration: 2, conditions: [told] } }),
      small,
    ],
    [
      "the spec, where the status tells of no resources",
      podOf(large, { generation: 2, status: { observedGeneration: 1 } }),
      large,
    ],
  ])("is %s", (_, pod, resources) => {
    expect(allocationOf(pod).containers.get("app")).toEqual(resources);
    expect(withAllocated(pod, allocationOf(pod)).spec?.containers[0]?.resources).toEqual(resources);
  });

  it("keeps a pending condition as it was told, without a second event", () => {
    const { allocations, decisions } = ledger();
    const pod = podOf(large, { generation: 3, status: { ...shown, observedGeneration: 3, conditions: [told] } });
    expect(allocations.take(pod).spec?.containers[0]?.resources).toEqual(small);
    const { reason, message, observedGeneration } = told;
    expect(allocations.resizeOf("u1").pending).toEqual({ reason, message, observedGeneration });
    expect(decisions).toEqual([]);
    allocations.take(podOf(small, { generation: 4 }));
    expect(allocations.resizeOf("u1")).toEqual({ pending: undefined });
  });
});
