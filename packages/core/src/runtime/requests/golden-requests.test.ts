import { describe, expect, test } from "vitest";
import { findContainer, isSidecar, type Pod, podContainers } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { ContainerConfig, SandboxConfig } from "../../ports/runtime-types.ts";
import { podCgroupName } from "../../resources/index.ts";
import type { ContainerKind } from "../pod-plan.ts";
import { buildContainerConfig, buildSandboxConfig, imageUser, prefetchObjects } from "./index.ts";
import { inOneOrder, toProtoJson } from "./proto-json.test-support.ts";
import {
  loadRecording,
  RECORDED_NODE,
  RECORDED_OBJECTS,
  RECORDED_RESOLV_CONF,
  RECORDED_SERVICES,
  type RecordedRequest,
  type Recording,
  recordingNames,
} from "./recordings.test-support.ts";

// Mounts of volumes come from the volume manager; all else is built here.
const names = recordingNames().filter((name) => !name.startsWith("vol-"));
const recordings = names.map((name) => ({ name, recording: loadRecording(name) }));
const called = (call: string) => recordings.filter(({ recording }) => recording.cri.some((one) => one.call === call));

function sandboxOf(pod: Pod): SandboxConfig {
  // The placeholder has an underscore, which no UID has in a cgroup's name.
  const named = { ...pod, metadata: { ...pod.metadata, uid: "POD-UID" } };
  const cgroupParent = `/${podCgroupName({ cgroupRoot: [], pod: named }).join("/")}`.replace("POD-UID", "POD_UID");
  const hostResolvConf = RECORDED_RESOLV_CONF;
  return buildSandboxConfig({ pod, node: RECORDED_NODE, attempt: 0, cgroupParent, hostResolvConf }).config;
}

function kindOf(pod: Pod, name: string): ContainerKind {
  const found = findContainer(pod, name);
  if (found?.kind !== "init") return found?.kind ?? "regular";
  return isSidecar(found.container) ? "sidecar" : "init";
}

/** Addresses and UID stand in clear text inside base64; the pod's fields carry the placeholder. */
function recordedIps(recording: Recording): string[] {
  const text = recording.cri.flatMap(envs).find((value) => /^10\.244\.\d+\.\d+$/.test(value));
  return [text ?? "10.244.0.5"];
}

function envs(request: RecordedRequest): string[] {
  const config = request.request["config"] as { envs?: { value?: string }[] } | undefined;
  return (config?.envs ?? []).map(({ value = "" }) => Buffer.from(value, "base64").toString("utf8"));
}

function containerOf(
  recording: Recording,
  options: { readonly name: string; readonly restartCount: number },
): ContainerConfig {
  const { pod } = recording;
  const { name, restartCount } = options;
  return buildContainerConfig({
    pod,
    node: RECORDED_NODE,
    container: [...podContainers(pod)].find(({ container }) => container.name === name)!.container,
    kind: kindOf(pod, name),
    restartCount,
    imageRef: "IMAGE_ID",
    imageUser: imageUser({}),
    podIps: recordedIps(recording),
    objects: RECORDED_OBJECTS,
    services: RECORDED_SERVICES,
    etcHostsPath: "/var/lib/kubelet/pods/POD_UID/etc-hosts",
    terminationLogPath: `/var/lib/kubelet/pods/POD_UID/containers/${name}/RANDOM`,
  });
}

function withoutUids(config: unknown): unknown {
  const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return JSON.parse(JSON.stringify(config).replace(uid, "POD_UID"));
}

describe("RunPodSandbox as recorded", () => {
  test.each(called("RunPodSandbox"))("$name", ({ recording }) => {
    const recorded = recording.cri.filter(({ call }) => call === "RunPodSandbox");
    const built = inOneOrder(toProtoJson(sandboxOf(recording.pod)));
    for (const { request } of recorded) expect(built).toEqual(inOneOrder(request["config"]));
  });

  test("a pod that the runtime has no user namespace for fails with the recorded words", () => {
    const { pod, events } = loadRecording("sec-proc-unmasked");
    const thrown = catchError(() => sandboxOf(pod));
    expect(events.map(({ reason, message }) => [reason, message])).toEqual([
      ["FailedCreatePodSandBox", `Failed to create pod sandbox: ${thrown.message}`],
    ]);
    expect(thrown.kind).toBe("unsupported");
  });
});

describe("CreateContainer as recorded", () => {
  test.each(called("CreateContainer"))("$name", ({ recording }) => {
    for (const { request } of recording.cri.filter(({ call }) => call === "CreateContainer")) {
      const config = request["config"] as { metadata: { name: string; attempt?: number } };
      const { name, attempt = 0 } = config.metadata;
      const built = toProtoJson(containerOf(recording, { name, restartCount: attempt }));
      expect(withoutUids(inOneOrder(built))).toEqual(withoutUids(inOneOrder(config)));
      expect(inOneOrder(toProtoJson(sandboxOf(recording.pod)))).toEqual(inOneOrder(request["sandbox_config"]));
    }
  });

  test.each(["env-missing-key", "env-missing-map"])("%s cannot be built, for the recorded reason", async (name) => {
    const recording = loadRecording(name);
    const [container] = recording.pod.spec?.containers ?? [];
    const source = {
      configMap: async (request: { name: string }) =>
        request.name === "cm" ? { name: "cm", namespace: "default", data: { one: "1" } } : undefined,
      secret: async () => undefined,
      services: async () => RECORDED_SERVICES,
      runtimeClass: async () => undefined,
    };
    const { objects } = await prefetchObjects({ pod: recording.pod, container: container!, source });
    const thrown = catchError(() =>
      buildContainerConfig({
        pod: recording.pod,
        node: RECORDED_NODE,
        container: container!,
        kind: "regular",
        restartCount: 0,
        imageRef: "IMAGE_ID",
        imageUser: { uid: 0n },
        podIps: [],
        objects,
        services: [],
      }),
    );
    const waiting = recording.status.containerStatuses?.[0]?.state?.waiting;
    expect({ reason: thrown.reason, message: thrown.message }).toEqual(waiting);
    expect(recording.events.find(({ reason }) => reason === "Failed")?.message).toBe(`Error: ${thrown.message}`);
  });
});

test("the recordings hold what these tests are about", () => {
  expect(called("RunPodSandbox").length).toBeGreaterThanOrEqual(60);
  expect(called("CreateContainer").length).toBeGreaterThanOrEqual(55);
});

function catchError(run: () => unknown): NodeletError {
  try {
    run();
  } catch (error) {
    return NodeletError.from(error);
  }
  throw new Error("expected a failure");
}
