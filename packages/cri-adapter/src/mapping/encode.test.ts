import { readFileSync } from "node:fs";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { ContainerConfig, SandboxConfig } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { CreateContainerRequestSchema, PullImageRequestSchema } from "../gen/runtime/v1/api_pb.ts";
import {
  createContainerRequest,
  encodeContainerFilter,
  encodeSandboxFilter,
  messageToJson,
  pullImageRequest,
  runPodSandboxRequest,
  stopContainerRequest,
} from "./index.ts";

/** Recorded from kubelet 1.36.2 on containerd 2.1. */
const recorded = JSON.parse(
  readFileSync(new URL("../../testdata/upstream/cmd-plain.json", import.meta.url), "utf8"),
) as {
  cri: { call: string; request: { config: { envs?: { key: string; value: string }[] } } }[];
};
const recordedRequest = (call: string) => recorded.cri.find((each) => each.call === call)?.request;

const sandboxConfig: SandboxConfig = {
  metadata: { name: "cmd-plain", uid: "POD_UID", namespace: "default", attempt: 0 },
  hostname: "cmd-plain",
  logDirectory: "/var/log/pods/default_cmd-plain_POD_UID",
  dnsConfig: {
    servers: ["10.96.0.10"],
    searches: ["default.svc.cluster.local", "svc.cluster.local", "cluster.local"],
    options: ["ndots:5"],
  },
  labels: {
    "io.kubernetes.pod.name": "cmd-plain",
    "io.kubernetes.pod.namespace": "default",
    "io.kubernetes.pod.uid": "POD_UID",
  },
  annotations: { "kubernetes.io/config.source": "api", "kubernetes.io/config.seen": "TIME" },
  linux: {
    cgroupParent: "/kubepods/besteffort/podPOD_UID",
    securityContext: {
      namespaceOptions: { network: "POD", pid: "CONTAINER", ipc: "POD", usernsOptions: { mode: "NODE" } },
      seccomp: { profileType: "RuntimeDefault" },
    },
    overhead: {},
    resources: { cpuPeriod: 100000n, cpuShares: 2n },
  },
};

describe("requests have the form that upstream sends", () => {
  it("RunPodSandbox", () => {
    const request = runPodSandboxRequest({ config: sandboxConfig, runtimeHandler: "" });
    expect(messageToJson(request)).toEqual(recordedRequest("RunPodSandbox"));
  });

  it("CreateContainer", () => {
    const envs = recordedRequest("CreateContainer")?.config.envs ?? [];
    const config: ContainerConfig = {
      metadata: { name: "c", attempt: 0 },
      image: { image: "IMAGE_ID", userSpecifiedImage: "localhost/busybox:1.35" },
      command: ["sleep", "3600"],
      args: [],
      envs: envs.map(({ key, value }) => ({ key, value: Buffer.from(value, "base64").toString() })),
      mounts: [
        { containerPath: "/etc/hosts", hostPath: "/var/lib/kubelet/pods/POD_UID/etc-hosts" },
        { containerPath: "/dev/termination-log", hostPath: "/var/lib/kubelet/pods/POD_UID/containers/c/RANDOM" },
      ],
      labels: { ...sandboxConfig.labels, "io.kubernetes.container.name": "c" },
      annotations: {
        "io.kubernetes.container.hash": "e29833bf",
        "io.kubernetes.container.restartCount": "0",
        "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
        "io.kubernetes.container.terminationMessagePolicy": "File",
        "io.kubernetes.pod.terminationGracePeriod": "2",
      },
      logPath: "c/0.log",
      linux: {
        resources: {
          cpuPeriod: 100000n,
          cpuShares: 2n,
          oomScoreAdj: 1000n,
          hugepageLimits: [
            { pageSize: "2MB", limit: 0n },
            { pageSize: "1GB", limit: 0n },
          ],
        },
        securityContext: {
          namespaceOptions: { pid: "CONTAINER", usernsOptions: { mode: "NODE" } },
          // Root is a set value, sent as an empty message.
          runAsUser: 0n,
          maskedPaths: [
            "/proc/asound",
            "/proc/acpi",
            "/proc/interrupts",
            "/proc/kcore",
            "/proc/keys",
            "/proc/latency_stats",
            "/proc/timer_list",
            "/proc/timer_stats",
            "/proc/sched_debug",
            "/proc/scsi",
            "/sys/firmware",
            "/sys/devices/virtual/powercap",
          ],
          readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
          seccomp: { profileType: "Unconfined" },
        },
      },
    };
    const request = createContainerRequest({ sandboxId: "SANDBOX_0", config, sandboxConfig });
    expect(messageToJson(request)).toEqual(recordedRequest("CreateContainer"));
  });

  it("StopContainer, with whole seconds", () => {
    expect(messageToJson(stopContainerRequest({ containerId: "c", timeoutSeconds: 2 }))).toEqual({
      container_id: "c",
      timeout: "2",
    });
    expect(messageToJson(stopContainerRequest({ containerId: "c", timeoutSeconds: 1.2 }))).toEqual({
      container_id: "c",
      timeout: "2",
    });
    expect(messageToJson(stopContainerRequest({ containerId: "c", timeoutSeconds: -1 }))).toEqual({
      container_id: "c",
    });
  });
});

const idMappings = [{ hostId: 65536, containerId: 1, length: 65536 }];
const namespaceOptions = {
  network: "NODE",
  pid: "TARGET",
  ipc: "NODE",
  targetId: "t",
  usernsOptions: { mode: "NODE", uids: idMappings, gids: idMappings },
} as const;
const everyResource = {
  cpuPeriod: 1n,
  cpuQuota: -1n,
  cpuShares: 3n,
  memoryLimitInBytes: 2n ** 62n,
  oomScoreAdj: -997n,
  cpusetCpus: "0-1",
  cpusetMems: "0",
  hugepageLimits: [{ pageSize: "2MB", limit: 2n ** 63n }],
  unified: { "memory.high": "1" },
  memorySwapLimitInBytes: 6n,
};
const everySecurity = {
  namespaceOptions,
  selinuxOptions: { user: "u", role: "r", type: "t", level: "l" },
  runAsUser: 1n,
  runAsGroup: 2n,
  readonlyRootfs: true,
  supplementalGroups: [5n],
  supplementalGroupsPolicy: "Strict",
  privileged: true,
  seccomp: { profileType: "Localhost", localhostRef: "p" },
  apparmor: { profileType: "Localhost", localhostRef: "q" },
} as const;
const everyImage = { image: "i", annotations: { a: "b" }, userSpecifiedImage: "u", runtimeHandler: "h", imageRef: "r" };
const everySandbox: SandboxConfig = {
  ...sandboxConfig,
  metadata: { name: "n", uid: "u", namespace: "ns", attempt: 3 },
  portMappings: [{ protocol: "SCTP", containerPort: 1, hostPort: 2, hostIp: "::1" }],
  linux: {
    cgroupParent: "/p",
    securityContext: everySecurity,
    sysctls: { a: "b" },
    overhead: everyResource,
    resources: everyResource,
  },
};
const everyContainer: ContainerConfig = {
  metadata: { name: "c", attempt: 1 },
  image: everyImage,
  command: ["a"],
  args: ["b"],
  workingDir: "/w",
  envs: [{ key: "K", value: "ä" }],
  mounts: [
    {
      containerPath: "/c",
      hostPath: "/h",
      readonly: true,
      selinuxRelabel: true,
      propagation: "PROPAGATION_BIDIRECTIONAL",
      uidMappings: idMappings,
      gidMappings: idMappings,
      recursiveReadOnly: true,
      image: everyImage,
      imageSubPath: "s",
    },
  ],
  devices: [{ containerPath: "/dev/a", hostPath: "/dev/b", permissions: "rwm" }],
  labels: { l: "1" },
  annotations: { a: "1" },
  logPath: "c/0.log",
  stdin: true,
  stdinOnce: true,
  tty: true,
  cdiDevices: [{ name: "v/c=d" }],
  stopSignal: "SIGRTMAXMINUS14",
  linux: {
    resources: everyResource,
    securityContext: {
      ...everySecurity,
      runAsUsername: "w",
      noNewPrivs: true,
      maskedPaths: ["/m"],
      readonlyPaths: ["/r"],
      capabilities: { addCapabilities: ["A"], dropCapabilities: ["B"], addAmbientCapabilities: ["C"] },
    },
  },
};

/** Names of the fields that are not set anywhere in a message, with what no Linux node sets left out. */
function unsetFields(schema: DescMessage, message: Message): string[] {
  const result: string[] = [];
  const visit = (view: ReturnType<typeof reflect>): void => {
    for (const field of view.fields) {
      const path = `${view.desc.name}.${field.name}`;
      if (/windows|seccomp_profile_path|apparmor_profile/.test(field.name)) continue;
      if (!view.isSet(field)) result.push(path);
      else if (field.fieldKind === "message") visit(view.get(field));
      else if (field.fieldKind === "list" && field.listKind === "message") {
        for (const item of view.get(field)) visit(item as ReturnType<typeof reflect>);
      }
    }
  };
  visit(reflect(schema, message));
  return result;
}

describe("nothing is lost on the way out", () => {
  it("every field of a sandbox and of a container has a counterpart in core", () => {
    const request = createContainerRequest({ sandboxId: "s", config: everyContainer, sandboxConfig: everySandbox });
    expect(unsetFields(CreateContainerRequestSchema, request)).toEqual([]);
    const json = messageToJson(request) as {
      config: { linux: { resources: unknown }; envs: unknown; stop_signal: string };
    };
    expect(json.config.linux.resources).toMatchObject({
      cpu_quota: "-1",
      memory_limit_in_bytes: "4611686018427387904",
      hugepage_limits: [{ page_size: "2MB", limit: "9223372036854775808" }],
      oom_score_adj: "-997",
    });
    // "ä" is C3 A4 in UTF-8.
    expect(json.config.envs).toEqual([{ key: "K", value: "w6Q=" }]);
    expect(json.config.stop_signal).toBe("SIGRTMAXMINUS14");
  });

  it("every field of a pull has one too", () => {
    const auth = {
      username: "u",
      password: "p",
      auth: "a",
      serverAddress: "s",
      identityToken: "i",
      registryToken: "r",
    };
    const request = pullImageRequest({ image: everyImage, auth, sandboxConfig: everySandbox });
    expect(unsetFields(PullImageRequestSchema, request)).toEqual([]);
  });

  it("a stop signal that CRI has no name for is refused", () => {
    const config = { ...everyContainer, stopSignal: "SIGFOO" };
    expect(() => createContainerRequest({ sandboxId: "s", config, sandboxConfig })).toThrow(
      "stop signal SIGFOO: expected a signal name",
    );
  });

  it("a filter is sent only when something is asked for", () => {
    expect(encodeSandboxFilter({})).toBeUndefined();
    expect(encodeContainerFilter({})).toBeUndefined();
    expect(encodeSandboxFilter({ state: "SANDBOX_NOTREADY" })).toEqual({
      id: undefined,
      state: { state: 1 },
      labelSelector: undefined,
    });
    expect(encodeContainerFilter({ sandboxId: "s", labels: { a: "b" }, state: "CONTAINER_CREATED" })).toEqual({
      id: undefined,
      podSandboxId: "s",
      state: { state: 0 },
      labelSelector: { a: "b" },
    });
  });
});
