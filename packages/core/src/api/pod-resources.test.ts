import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec, PodStatus } from "./gen/core-v1.ts";
import { podLimits, podRequests } from "./pod-resources.ts";
import { formatResourceList, parseResourceList } from "./resource-lists.ts";

type List = Record<string, string>;
const container = (name: string, requests: List, limits: List = {}): Container => ({
  name,
  resources: { requests, limits },
});
const sidecar = (name: string, requests: List, limits: List = {}): Container => ({
  ...container(name, requests, limits),
  restartPolicy: "Always",
});
const pod = (spec: Partial<PodSpec>, status: PodStatus = {}): Pod => ({ spec: { containers: [], ...spec }, status });

describe("requests", () => {
  it("of regular containers are summed per resource", () => {
    const p = pod({
      containers: [container("a", { cpu: "100m", memory: "64Mi" }), container("b", { cpu: "1", "example.com/g": "2" })],
    });
    expect(formatResourceList(podRequests(p))).toEqual({ cpu: "1100m", "example.com/g": "2", memory: "64Mi" });
  });

  it.each<[string, Container[], Container[], List]>([
    [
      "the largest init container, when larger",
      [container("i", { cpu: "5" }), container("j", { cpu: "3" })],
      [container("a", { cpu: "1" })],
      { cpu: "5" },
    ],
    [
      "the regular ones, when larger",
      [container("i", { cpu: "1" })],
      [container("a", { cpu: "1" }), container("b", { cpu: "1" })],
      { cpu: "2" },
    ],
    [
      "per resource, not per container",
      [container("i", { cpu: "5", memory: "1Mi" })],
      [container("a", { cpu: "1", memory: "8Mi" })],
      { cpu: "5", memory: "8Mi" },
    ],
    // KEP-753: init 5 runs before the sidecar (5), init 10 beside it (1 + 10), afterwards 1 + 2.
    [
      "an init container beside earlier sidecars",
      [container("i", { cpu: "5" }), sidecar("s", { cpu: "1" }), container("j", { cpu: "10" })],
      [container("a", { cpu: "2" })],
      { cpu: "11" },
    ],
    [
      "a sidecar after the init container",
      [container("i", { cpu: "10" }), sidecar("s", { cpu: "1" })],
      [container("a", { cpu: "2" })],
      { cpu: "10" },
    ],
    [
      "sidecars and regular ones together",
      [sidecar("s", { cpu: "1" }), sidecar("t", { cpu: "2" })],
      [container("a", { cpu: "4" })],
      { cpu: "7" },
    ],
  ])("are %s", (_title, initContainers, containers, expected) => {
    expect(formatResourceList(podRequests(pod({ initContainers, containers })))).toEqual(expected);
  });

  it("of the pod as a whole replace cpu, memory and huge pages only", () => {
    const p = pod({
      containers: [container("a", { cpu: "3", memory: "1Gi", "hugepages-2Mi": "4Mi", "example.com/g": "1" })],
      resources: { requests: { cpu: "1", "hugepages-2Mi": "8Mi", "example.com/g": "9" } },
      overhead: { cpu: "20m", memory: "16Mi" },
    });
    expect(formatResourceList(podRequests(p))).toEqual({
      cpu: "1020m",
      "example.com/g": "1",
      "hugepages-2Mi": "8Mi",
      memory: "1040Mi",
    });
    expect(formatResourceList(podRequests(p, { skipPodLevel: true, excludeOverhead: true }))).toEqual({
      cpu: "3",
      "example.com/g": "1",
      "hugepages-2Mi": "4Mi",
      memory: "1Gi",
    });
  });
});

describe("limits", () => {
  it("get overhead only where there is a limit that is not zero", () => {
    const p = pod({
      containers: [container("a", {}, { cpu: "1", "example.com/z": "0" })],
      overhead: { cpu: "20m", memory: "16Mi", "example.com/z": "1" },
    });
    expect(formatResourceList(podLimits(p))).toEqual({ cpu: "1020m", "example.com/z": "0" });
    expect(formatResourceList(podLimits(p, { excludeOverhead: true }))).toEqual({ cpu: "1", "example.com/z": "0" });
  });

  it("follow the rule of requests for init containers, sidecars and the pod as a whole", () => {
    const p = pod({
      initContainers: [sidecar("s", {}, { cpu: "1" }), container("i", {}, { cpu: "6" })],
      containers: [container("a", {}, { cpu: "2", memory: "1Gi" })],
      resources: { limits: { memory: "2Gi" } },
    });
    expect(formatResourceList(podLimits(p))).toEqual({ cpu: "7", memory: "2Gi" });
  });
});

describe("while a container is resized in place", () => {
  const resizing = (reason: string | undefined): Pod =>
    pod(
      { containers: [container("a", { cpu: "1", memory: "10Mi" }, { cpu: "1" }), container("b", { cpu: "1" })] },
      {
        conditions: reason === undefined ? [] : [{ type: "PodResizePending", status: "True", reason }],
        containerStatuses: [
          {
            name: "a",
            image: "",
            imageID: "",
            ready: true,
            restartCount: 0,
            resources: { requests: { cpu: "3", memory: "5Mi" }, limits: { cpu: "3" } },
            allocatedResources: { cpu: "2", memory: "20Mi" },
          },
        ],
      },
    );

  it.each([
    [undefined, { cpu: "4", memory: "20Mi" }, { cpu: "3" }],
    ["Deferred", { cpu: "4", memory: "20Mi" }, { cpu: "3" }],
    ["Infeasible", { cpu: "4", memory: "20Mi" }, { cpu: "3" }],
  ])("(%s) the largest of spec, actual and allocated counts", (reason, requests, limits) => {
    expect(formatResourceList(podRequests(resizing(reason), { useStatusResources: true }))).toEqual(requests);
    expect(formatResourceList(podLimits(resizing(reason), { useStatusResources: true }))).toEqual(limits);
  });

  it("an infeasible resize does not count", () => {
    const wanted = (reason: string): Pod => {
      const p = resizing(reason);
      p.spec!.containers[0]!.resources = { requests: { cpu: "50" }, limits: { cpu: "50" } };
      return p;
    };
    expect(formatResourceList(podRequests(wanted("Deferred"), { useStatusResources: true }))).toEqual({
      cpu: "51",
      memory: "20Mi",
    });
    expect(formatResourceList(podRequests(wanted("Infeasible"), { useStatusResources: true }))).toEqual({
      cpu: "4",
      memory: "20Mi",
    });
    expect(formatResourceList(podLimits(wanted("Infeasible"), { useStatusResources: true }))).toEqual({ cpu: "3" });
    expect(formatResourceList(podRequests(wanted("Infeasible")))).toEqual({ cpu: "51" });
  });
});

it("a malformed quantity names its resource", () => {
  expect(() => parseResourceList({ memory: "1GB" })).toThrow(/^memory: quantity "1GB": quantities must match/);
});
