import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../api/index.ts";
import { podCgroupName, podCgroupResources, podUidOfCgroup, qosCgroupName, qosCgroupResources } from "./pod-cgroup.ts";

const UID = "56da3977-ecd6-4cee-a5b2-cb436e957e6a";
const CPU_AND_MEMORY = { cpu: "250m", memory: "64Mi" };

function pod(containers: readonly Container["resources"][], spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  const named = containers.map((resources, index) => ({ name: `c${index}`, ...(resources && { resources }) }));
  return { metadata: { uid: UID }, spec: { ...spec, containers: named } };
}

const guaranteed = pod([{ requests: CPU_AND_MEMORY, limits: CPU_AND_MEMORY }]);
const burstable = pod([{ requests: { cpu: "100m" } }]);
const bestEffort = pod([{}]);

describe("names", () => {
  test.each([
    ["Guaranteed", guaranteed, ["kubepods", `pod${UID}`]],
    ["Burstable", burstable, ["kubepods", "burstable", `pod${UID}`]],
    ["BestEffort", bestEffort, ["kubepods", "besteffort", `pod${UID}`]],
  ])("%s", (_, given, name) => {
    expect(podCgroupName({ cgroupRoot: [], pod: given })).toEqual(name);
  });

  test("lie below the configured root", () => {
    expect(qosCgroupName({ cgroupRoot: ["a", "b"], qos: "Burstable" })).toEqual(["a", "b", "kubepods", "burstable"]);
    expect(qosCgroupName({ cgroupRoot: ["a"], qos: "Guaranteed" })).toEqual(["a", "kubepods"]);
  });

  test.each(["", "a_b", "../up", "a/b", "."])("refuse the UID %j", (uid) => {
    const named = { ...burstable, metadata: { uid } };
    expect(() => podCgroupName({ cgroupRoot: [], pod: named })).toThrow("cannot name a cgroup");
  });

  test.each([
    [`pod${UID}`, UID],
    ["pod", undefined],
    ["system", undefined],
  ])("%s belongs to pod %s", (part, uid) => {
    expect(podUidOfCgroup(part)).toBe(uid);
  });
});

describe("limits of a pod's cgroup", () => {
  const cpu = { cpuQuota: 25_000n, cpuPeriod: 100_000n };
  const half = { limits: { cpu: "250m" }, requests: { memory: "10Mi" } };
  test.each<[string, Pod, object]>([
    ["Guaranteed: all", guaranteed, { cpuShares: 256n, ...cpu, memoryLimitBytes: 67_108_864n }],
    ["Burstable without limits: shares", burstable, { cpuShares: 102n }],
    ["Burstable, cpu limited everywhere", pod([half]), { cpuShares: 2n, ...cpu }],
    ["Burstable, one container open", pod([half, { limits: { memory: "64Mi" } }]), { cpuShares: 2n }],
    [
      "Burstable, both limits everywhere: sums",
      pod([{ limits: CPU_AND_MEMORY, requests: { cpu: "100m" } }, { limits: CPU_AND_MEMORY }]),
      { cpuShares: 102n, cpuQuota: 50_000n, cpuPeriod: 100_000n, memoryLimitBytes: 134_217_728n },
    ],
    [
      "the pod's own limits hold it though a container has none",
      pod([half, {}], { resources: { limits: CPU_AND_MEMORY, requests: { cpu: "100m" } } }),
      { cpuShares: 102n, ...cpu, memoryLimitBytes: 67_108_864n },
    ],
    ["BestEffort: the least", bestEffort, { cpuShares: 2n }],
    [
      "overhead is part of it",
      pod([{ requests: CPU_AND_MEMORY, limits: CPU_AND_MEMORY }], { overhead: { cpu: "250m", memory: "64Mi" } }),
      { cpuShares: 512n, cpuQuota: 50_000n, cpuPeriod: 100_000n, memoryLimitBytes: 134_217_728n },
    ],
    ["300 cores", pod([{ requests: { cpu: "300" } }]), { cpuShares: 262_144n }],
  ])("%s", (_, given, expected) => {
    expect(podCgroupResources({ pod: given, cpuCfsQuota: true, podPidsLimit: -1 })).toEqual(expected);
  });

  test("a pids limit is for every class", () => {
    expect(podCgroupResources({ pod: bestEffort, cpuCfsQuota: true, podPidsLimit: 64 })).toEqual({
      cpuShares: 2n,
      pidsLimit: 64n,
    });
  });

  test("without cpuCFSQuota the quota is lifted", () => {
    const given = podCgroupResources({ pod: guaranteed, cpuCfsQuota: false, podPidsLimit: 0 });
    expect(given).toMatchObject({ cpuQuota: -1n, cpuPeriod: 100_000n });
  });
});

test("QoS cgroups: the sum of Burstable requests, and the least", () => {
  const pods = [guaranteed, burstable, pod([{ requests: { cpu: "900m" } }]), bestEffort];
  expect(qosCgroupResources({ pods })).toEqual({
    burstable: { cpuShares: 1024n },
    bestEffort: { cpuShares: 2n },
  });
  expect(qosCgroupResources({ pods: [pod([{ requests: { cpu: "300" } }])] }).burstable.cpuShares).toBe(262_144n);
});
