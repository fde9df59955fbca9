import { describe, expect, it } from "vitest";
import { type Pod, type PodSpec, parseJson } from "../api/index.ts";
import { defaultPod } from "../pods/defaults.ts";
import { storedPods } from "../pods/recordings.test-support.ts";
import { type AdmissionInput, admitPod, findUnbuilt, type NodeFacts } from "./index.ts";

/** The machine of the recordings. */
const NODE: NodeFacts = {
  name: "n1",
  labels: { "kubernetes.io/os": "linux", zone: "a" },
  taints: [],
  os: "linux",
  kernelVersion: "6.1.0-21-amd64",
  allocatable: { cpu: "2", memory: "25171652608", "ephemeral-storage": "100Gi", pods: "110" },
  supplementalGroupsPolicy: true,
  userNamespaces: false,
  appArmor: false,
};

function pod(spec: Partial<PodSpec>, metadata: Pod["metadata"] = {}): Pod {
  return defaultPod({
    metadata: { name: "web", ...metadata },
    spec: { containers: [{ name: "app", image: "i" }], ...spec },
  });
}

function judge(
  input: Partial<Omit<AdmissionInput, "node">> & { readonly pod: Pod; readonly node?: Partial<NodeFacts> },
): string {
  const verdict = admitPod({
    otherPods: [],
    allowedUnsafeSysctls: [],
    gates: {},
    ...input,
    node: { ...NODE, ...input.node },
  });
  return verdict.admit ? "admitted" : `${verdict.reason}: ${verdict.message}`;
}

function asking(requests: Record<string, string>): Pod {
  return pod({
    containers: [
      {
        name: "app",
        image: "i",
        resources: { requests, limits: "cpu" in requests || "memory" in requests ? {} : requests },
      },
    ],
  });
}

function onPort(port: { readonly hostPort: number; readonly protocol?: string; readonly hostIP?: string }): Pod {
  return pod({ containers: [{ name: "app", image: "i", ports: [{ containerPort: 1, ...port }] }] });
}

describe("what the kubelet answered", () => {
  const rejected = storedPods().filter(({ status }) => status.message?.startsWith("Pod was rejected: "));

  it("to pods that it rejected", () => {
    expect(rejected.map(({ name }) => name).sort()).toEqual(["adm-cpu", "adm-os", "sec-sysctl-bad"]);
  });

  it.each(rejected.map((stored) => [stored.name, stored] as const))("to %s", (_, stored) => {
    expect(judge({ pod: stored.pod })).toBe(
      `${stored.status.reason}: ${stored.status.message?.replace("Pod was rejected: ", "")}`,
    );
  });

  it.each(
    storedPods()
      .filter((stored) => !rejected.some(({ name }) => name === stored.name))
      .map(({ name, pod: stored }) => [name, stored] as const),
  )("to %s, which ran: no handler of upstream's refuses it", (_, stored) => {
    expect(judge({ pod: stored })).toMatch(/^admitted$|^PodFeatureUnsupported: /);
  });
});

describe("sysctls", () => {
  const using = (name: string, spec: Partial<PodSpec> = {}): Pod =>
    pod({ ...spec, securityContext: { sysctls: [{ name, value: "1" }] } });

  it.each<[string, Pod, Partial<AdmissionInput>, Partial<NodeFacts>, string]>([
    ["a safe one", using("net.ipv4.tcp_syncookies"), {}, {}, "admitted"],
    ["a safe one with slashes", using("net/ipv4/tcp_syncookies"), {}, {}, "admitted"],
    [
      "an unsafe one",
      using("kernel.msgmax"),
      {},
      {},
      'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted',
    ],
    [
      "an unsafe one that is allowed",
      using("kernel.msgmax"),
      { allowedUnsafeSysctls: ["kernel.msg*"] },
      {},
      "admitted",
    ],
    [
      "one beside an allowed pattern",
      using("kernel.shmmax"),
      { allowedUnsafeSysctls: ["kernel.msg*"] },
      {},
      'SysctlForbidden: forbidden sysctl: "kernel.shmmax" not allowlisted',
    ],
    [
      "a safe one that this kernel lacks",
      using("net.ipv4.tcp_rmem"),
      {},
      { kernelVersion: "4.14.0" },
      'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_rmem" not allowlisted',
    ],
    ["the same on a newer kernel", using("net.ipv4.tcp_rmem"), {}, { kernelVersion: "4.15.0" }, "admitted"],
    [
      "one of a namespace shared with the host",
      using("net.ipv4.tcp_syncookies", { hostNetwork: true }),
      {},
      {},
      'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    ],
    [
      "one of the host's IPC",
      using("kernel.shm_rmid_forced", { hostIPC: true }),
      {},
      {},
      'SysctlForbidden: forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
    ],
  ])("%s", (...[, subject, input, node, answer]) => {
    expect(judge({ ...input, pod: subject, node })).toBe(answer);
  });
});

describe("what the scheduler would have checked", () => {
  it.each<[string, Parameters<typeof judge>[0], string]>([
    [
      "another operating system by label",
      { pod: pod({}, { labels: { "kubernetes.io/os": "windows" } }) },
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    [
      "strict groups without support",
      {
        pod: pod({ securityContext: { supplementalGroupsPolicy: "Strict" } }),
        node: { supplementalGroupsPolicy: false },
      },
      "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node",
    ],
    ["all of the CPUs", { pod: asking({ cpu: "2" }) }, "admitted"],
    [
      "what others left",
      { pod: asking({ cpu: "500m" }), otherPods: [asking({ cpu: "1" }), asking({ cpu: "600m" })] },
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 500, used: 1600, capacity: 2000",
    ],
    ["nothing on a full node", { pod: pod({}), otherPods: [asking({ cpu: "2" })] }, "admitted"],
    [
      "too much memory",
      { pod: asking({ memory: "24Gi" }) },
      "OutOfmemory: Node didn't have enough resource: memory, requested: 25769803776, used: 0, capacity: 25171652608",
    ],
    [
      "too much local storage",
      { pod: asking({ "ephemeral-storage": "101Gi" }) },
      "OutOfephemeral-storage: Node didn't have enough resource: ephemeral-storage, requested: 108447924224, used: 0, capacity: 107374182400",
    ],
    [
      "one pod too many",
      { pod: pod({}), otherPods: [pod({})], node: { allocatable: { ...NODE.allocatable, pods: "1" } } },
      "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1",
    ],
    ["a device that the node does not have", { pod: asking({ "example.com/gpu": "1" }) }, "admitted"],
    [
      "a device that is taken",
      {
        pod: asking({ "example.com/gpu": "1" }),
        otherPods: [asking({ "example.com/gpu": "1" })],
        node: { allocatable: { ...NODE.allocatable, "example.com/gpu": "1" } },
      },
      "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 1, used: 1, capacity: 1",
    ],
    [
      "huge pages that the node does not have",
      { pod: asking({ cpu: "1", "hugepages-2Mi": "4Mi" }) },
      "OutOfhugepages-2Mi: Node didn't have enough resource: hugepages-2Mi, requested: 4194304, used: 0, capacity: 0",
    ],
    [
      "another zone",
      { pod: pod({ nodeSelector: { zone: "b" } }) },
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      "another node",
      { pod: pod({ nodeName: "n2" }) },
      "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    [
      "a port that is taken",
      { pod: onPort({ hostPort: 80 }), otherPods: [onPort({ hostPort: 80, hostIP: "192.0.2.2" })] },
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    [
      "the port of another protocol",
      { pod: onPort({ hostPort: 80 }), otherPods: [onPort({ hostPort: 80, protocol: "UDP" })] },
      "admitted",
    ],
    [
      "the port of another address",
      {
        pod: onPort({ hostPort: 80, hostIP: "192.0.2.3" }),
        otherPods: [onPort({ hostPort: 80, hostIP: "192.0.2.2" })],
      },
      "admitted",
    ],
    [
      "a taint",
      { pod: pod({}), node: { taints: [{ key: "k", value: "v", effect: "NoExecute" }] } },
      "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    ],
    [
      "a taint that only keeps the scheduler away",
      { pod: pod({}), node: { taints: [{ key: "k", effect: "NoSchedule" }] } },
      "admitted",
    ],
    [
      "a taint that it tolerates",
      {
        pod: pod({ tolerations: [{ key: "k", value: "v", effect: "NoExecute" }] }),
        node: { taints: [{ key: "k", value: "v", effect: "NoExecute" }] },
      },
      "admitted",
    ],
    [
      "a taint, as a static pod",
      {
        pod: pod({}, { annotations: { "kubernetes.io/config.source": "file" } }),
        node: { taints: [{ key: "k", effect: "NoExecute" }] },
      },
      "admitted",
    ],
  ])("%s", (_, input, answer) => {
    expect(judge(input)).toBe(answer);
  });

  it("tells the first of several failures, resources before placement", () => {
    expect(
      judge({
        pod: {
          ...asking({ cpu: "3", memory: "100Gi" }),
          spec: { ...(asking({ cpu: "3", memory: "100Gi" }).spec as PodSpec), nodeName: "n2" },
        },
      }),
    ).toMatch(/^OutOfcpu: /);
  });
});

describe("profiles and gates", () => {
  it.each<[string, Parameters<typeof judge>[0], string]>([
    [
      "a profile that the host cannot enforce",
      { pod: pod({ securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }) },
      "AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host",
    ],
    [
      "a profile by annotation",
      { pod: pod({}, { annotations: { "container.apparmor.security.beta.kubernetes.io/app": "runtime/default" } }) },
      "AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host",
    ],
    ["no confinement", { pod: pod({ securityContext: { appArmorProfile: { type: "Unconfined" } } }) }, "admitted"],
    [
      "a profile on a host that has them",
      { pod: pod({ securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }), node: { appArmor: true } },
      "admitted",
    ],
    [
      "a profile of a pod that ran before",
      {
        pod: {
          ...pod({ securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }),
          status: { phase: "Running" },
        },
      },
      "admitted",
    ],
    [
      "resources of the pod without the gate",
      { pod: pod({ resources: { requests: { cpu: "1" } } }), gates: { PodLevelResources: false } },
      "PodLevelResourcesNotSupported: PodLevelResources feature gate is disabled",
    ],
    ["resources of the pod", { pod: pod({ resources: { requests: { cpu: "1" } } }) }, "admitted"],
  ])("%s", (_, input, answer) => {
    expect(judge(input)).toBe(answer);
  });
});

describe("an adopted pod", () => {
  it("is not judged again, however full the node", () => {
    const big = asking({ cpu: "3" });
    expect(judge({ pod: big })).toMatch(/^OutOfcpu/);
    expect(
      admitPod({ pod: big, otherPods: [], node: NODE, allowedUnsafeSysctls: [], gates: {}, adopted: true }),
    ).toEqual({ admit: true });
  });

  it("does not count itself, and pods that have ended are not handed in: a node with 3.9 of 4 CPUs in use admits its own pods again", () => {
    const running = [asking({ cpu: "1.9" }), asking({ cpu: "2" })];
    for (const [index, subject] of running.entries()) {
      expect(
        judge({
          pod: subject,
          otherPods: running.filter((_, other) => other !== index),
          node: { allocatable: { ...NODE.allocatable, cpu: "4" } },
        }),
      ).toBe("admitted");
    }
  });
});

describe("what is not built yet", () => {
  it("names every field that asks for it, and nothing else", () => {
    const asks = parseJson(
      '{"spec":{"containers":[{"name":"a","livenessProbe":{},"lifecycle":{"preStop":{}}}],"initContainers":[{"name":"i","startupProbe":{}}],"volumes":[{"name":"x","nfs":{}},{"name":"y","csi":{}}],"hostUsers":false}}',
    ) as Pod;
    const fields = findUnbuilt(asks);
    for (const field of fields) expect(field).toMatch(/^spec\./);
    expect(
      findUnbuilt(
        pod({
          initContainers: [{ name: "side", image: "i", restartPolicy: "Always" }],
          hostUsers: true,
          hostNetwork: true,
        }),
      ),
    ).toEqual([]);
    expect(fields).toContain("spec.volumes[0].nfs");
    expect(judge({ pod: pod({ hostUsers: false }), node: { userNamespaces: true } })).toBe(
      "PodFeatureUnsupported: Pod asks for what this version of nodelet does not do yet: spec.hostUsers",
    );
    expect(judge({ pod: pod({ hostUsers: false }), node: { userNamespaces: false } })).toBe("admitted");
    expect(judge({ pod: pod({ volumes: [{ name: "v", nfs: { server: "s", path: "/p" } }] }) })).toBe(
      "PodFeatureUnsupported: Pod asks for what this version of nodelet does not do yet: spec.volumes[0].nfs",
    );
  });
});
