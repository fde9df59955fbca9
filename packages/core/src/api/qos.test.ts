import { describe, expect, it } from "vitest";
import type { Container, Pod } from "./gen/core-v1.ts";
import { computeQosClass, type QosClass, qosClassOf } from "./qos.ts";

type List = Record<string, string>;
const c = (requests: List, limits: List = {}): Container => ({ name: "c", resources: { requests, limits } });
const full = { cpu: "1", memory: "1Gi" };

describe("QoS class", () => {
  it.each<[string, QosClass, Pod]>([
    ["nothing asked", "BestEffort", { spec: { containers: [c({})] } }],
    [
      "only other resources",
      "BestEffort",
      { spec: { containers: [c({ "example.com/g": "1", "ephemeral-storage": "1Gi" })] } },
    ],
    ["zero amounts", "BestEffort", { spec: { containers: [c({ cpu: "0" }, { memory: "0" })] } }],
    ["equal requests and limits", "Guaranteed", { spec: { containers: [c(full, full)] } }],
    [
      "equal in another spelling",
      "Guaranteed",
      { spec: { containers: [c({ cpu: "1000m", memory: "1024Mi" }, full)] } },
    ],
    ["limits without requests", "Burstable", { spec: { containers: [c({}, full)] } }],
    ["a request below its limit", "Burstable", { spec: { containers: [c({ ...full, cpu: "500m" }, full)] } }],
    ["no memory limit", "Burstable", { spec: { containers: [c({ cpu: "1" }, { cpu: "1" })] } }],
    ["one container without limits", "Burstable", { spec: { containers: [c(full, full), c({})] } }],
    [
      "an init container without limits",
      "Burstable",
      { spec: { containers: [c(full, full)], initContainers: [c({})] } },
    ],
    [
      "an ephemeral container without limits",
      "Guaranteed",
      { spec: { containers: [c(full, full)], ephemeralContainers: [c({})] } },
    ],
    [
      "pod-level resources alone count",
      "Guaranteed",
      { spec: { containers: [c({})], resources: { requests: full, limits: full } } },
    ],
    [
      "pod-level requests only",
      "Burstable",
      { spec: { containers: [c(full, full)], resources: { requests: { cpu: "1" } } } },
    ],
    [
      "pod-level resources that do not count",
      "Guaranteed",
      { spec: { containers: [c(full, full)], resources: { requests: { "example.com/g": "1" } } } },
    ],
  ])("%s: %s", (_title, expected, pod) => {
    expect(computeQosClass(pod)).toBe(expected);
  });

  it("is what the API server wrote, where it did", () => {
    expect(qosClassOf({ spec: { containers: [c({})] }, status: { qosClass: "Burstable" } })).toBe("Burstable");
    expect(qosClassOf({ spec: { containers: [c({})] }, status: { qosClass: "odd" } })).toBe("BestEffort");
  });
});
