import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../api/index.ts";
import { probesOf } from "../runtime/observed-pod.test-support.ts";
import type { ObservedContainer, ObservedPod, ObservedSandbox } from "../runtime/observed-pod.ts";
import { crashBackOffMessage } from "../runtime/plan/back-off-message.ts";
import { NO_PROBES, type ProbeResults } from "../runtime/pod-snapshot.ts";
import { computePodStatus, rejectedStatus } from "./pod-status.ts";
import type { KillStatus, StartError } from "./status-snapshot.ts";

/** Statuses recorded from kubelet 1.36.2: each pod's own outcome is put in, and the whole status must come out. */
const DIRECTORY = new URL("../../testdata/upstream/pods/", import.meta.url);

interface Recording {
  readonly pod: Pod;
  readonly cri: readonly { readonly call: string; readonly request: CriRequest }[];
  readonly status: PodStatus;
  readonly events: readonly { readonly reason: string; readonly message: string }[];
}

interface CriRequest {
  readonly container_id?: string;
  readonly config?: {
    readonly metadata?: { readonly name?: string; readonly attempt?: number };
    readonly linux?: { readonly resources?: Readonly<Record<string, unknown>> };
  };
}

interface Exit {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly terminationMessage?: string;
  readonly neverStarted?: boolean;
}

/** What happened in the runtime, and what the worker knew, beyond containers that were created, started and run on. */
interface Outcome {
  readonly exits?: Readonly<Record<string, Exit>>;
  readonly users?: Readonly<Record<string, readonly [uid: bigint, gid: bigint, groups: readonly bigint[]]>>;
  readonly noSandbox?: boolean;
  readonly ended?: boolean;
  readonly kill?: KillStatus;
  readonly startErrors?: (pod: Pod, recording: Recording) => Readonly<Record<string, StartError>>;
  readonly probes?: ProbeResults;
  readonly rejected?: string;
}

const COMPLETED: Exit = { exitCode: 0, reason: "Completed" };
const RUNC =
  "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ";
const BAD_COMMAND = `${RUNC}exec: "/no/such": stat /no/such: no such file or directory`;

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "adm-cpu": { rejected: "OutOfcpu" },
  "adm-os": { rejected: "PodOSNotSupported" },
  "sec-sysctl-bad": { rejected: "SysctlForbidden" },
  "cmd-none-exits": { exits: { c: COMPLETED }, ended: true },
  "out-succeed": { exits: { c: COMPLETED }, ended: true },
  "out-message": { exits: { c: { ...COMPLETED, terminationMessage: "done\n" } }, ended: true },
  "out-message-path": { exits: { c: { ...COMPLETED, terminationMessage: "p\n" } }, ended: true },
  "out-fail": { exits: { c: { exitCode: 3, reason: "Error" } }, ended: true },
  "out-signal": { exits: { c: { exitCode: 1, reason: "Error" } }, ended: true },
  "out-oom": { exits: { c: { exitCode: 137, reason: "OOMKilled" } }, ended: true },
  "out-deadline": {
    exits: { c: { exitCode: 137, reason: "Error" } },
    ended: true,
    kill: {
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    },
  },
  "out-badcmd": {
    exits: { c: { exitCode: 128, reason: "StartError", message: BAD_COMMAND, neverStarted: true } },
    startErrors: () => ({ c: { reason: "RunContainerError", message: BAD_COMMAND } }),
  },
  "out-badimage": { startErrors: failedEvent("InvalidImageName") },
  "out-never": {
    startErrors: () => ({
      c: {
        reason: "ErrImageNeverPull",
        message: 'Container image "localhost/absent:1" is not present with pull policy of Never',
      },
    }),
  },
  "out-noimage": {
    startErrors: () => ({
      c: {
        reason: "ImagePullBackOff",
        message:
          'Back-off pulling image "localhost/absent:1": ErrImagePull: failed to pull and unpack image "localhost/absent:1": failed to resolve image: failed to do request: Head "https://localhost/v2/absent/manifests/1": dial tcp 127.0.0.1:443: connect: connection refused',
      },
    }),
  },
  "env-missing-key": { startErrors: failedEvent("CreateContainerConfigError") },
  "env-missing-map": { startErrors: failedEvent("CreateContainerConfigError") },
  "init-fail-always": { exits: { i1: { exitCode: 1, reason: "Error" } }, startErrors: backOff("i1", 20_000) },
  "init-fail-never": { exits: { i1: { exitCode: 1, reason: "Error" } }, ended: true },
  "probe-live-fail": { exits: { c: { exitCode: 137, reason: "Error" } }, startErrors: backOff("c", 10_000) },
  "probe-notready": { probes: probesOf({ readiness: { CONTAINER_0: "failure" } }) },
  "probe-ready": { probes: probesOf({ readiness: { CONTAINER_0: "success" } }) },
  "side-startup": { probes: probesOf({ startup: { CONTAINER_0: "success" } }) },
  "side-done": { exits: { s: { exitCode: 137, reason: "Error" }, c: COMPLETED }, ended: true },
  "rule-container-never": { exits: { a: { exitCode: 1, reason: "Error" } } },
  "sec-proc-unmasked": { noSandbox: true },
  "sec-groups-strict": { users: { c: [0n, 0n, [0n, 7n]] } },
  "sec-nonroot-ok": { users: { c: [65534n, 65534n, [65534n]] } },
  "sec-pod": { users: { c: [1001n, 1002n, [5n, 6n, 1002n, 2000n]] } },
  "sec-user": { users: { c: [1000n, 3000n, [3000n]] } },
  "vol-cm-missing": { noSandbox: true },
  "vol-secret": { users: { c: [0n, 0n, [0n, 4000n]] } },
};

/**
 * Where ours differs on purpose. On cgroup v1 the kubelet now and then reports the pod cgroup's "no limit" as a memory limit, and it lost the limit of a
 * pod whose cgroup was gone; ours reports the limits that were allocated.
 */
const UNLIMITED = "9007199254740988Ki";
const LOST_LIMITS: Readonly<Record<string, PodStatus["resources"]>> = {
  "out-oom": { limits: { memory: "48Mi" }, requests: { memory: "48Mi" } },
};

describe("statuses recorded from kubelet 1.36.2", () => {
  const names = readdirSync(DIRECTORY).map((file) => file.replace(/\.json$/, ""));

  it("has every recording, and an outcome only for recordings", () => {
    expect(names.length).toBeGreaterThanOrEqual(84);
    for (const name of Object.keys(OUTCOMES)) expect(names).toContain(name);
  });

  it.each(names)("%s", (name) => {
    const recording = JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8")) as Recording;
    expect(anonymous(statusOf(recording, OUTCOMES[name] ?? {}))).toEqual(expected(name, recording.status));
  });
});

function statusOf(recording: Recording, outcome: Outcome): PodStatus {
  const { pod } = recording;
  const nowMs = 1_767_225_600_000;
  if (outcome.rejected !== undefined) {
    const event = recording.events.find(({ reason }) => reason === outcome.rejected);
    return rejectedStatus({ pod, reason: outcome.rejected, message: event?.message ?? "", nowMs });
  }
  const snapshot = {
    pod,
    previous: undefined,
    probes: outcome.probes ?? NO_PROBES,
    startErrors: new Map(Object.entries(outcome.startErrors?.(pod, recording) ?? {})),
    kill: outcome.kill,
    nodeIps: ["192.0.2.10"],
    runtimeName: "containerd",
    recursiveReadOnlyMounts: true,
    nowMs,
  };
  // What was shown while its sandbox lived is what an ended pod keeps its address from.
  const alive = observe(recording, { ...outcome, exits: {}, ended: false });
  const shown = computePodStatus({
    ...snapshot,
    observed: alive,
    isTerminal: false,
    startErrors: new Map(),
    kill: undefined,
  });
  const previous = outcome.ended === true ? shown : undefined;
  return computePodStatus({
    ...snapshot,
    previous,
    observed: observe(recording, outcome),
    isTerminal: outcome.ended === true,
  });
}

function observe(recording: Recording, outcome: Outcome): ObservedPod {
  const { uid = "", name = "", namespace = "" } = recording.pod.metadata ?? {};
  const hostNetwork = recording.pod.spec?.hostNetwork === true;
  const serving: ObservedSandbox = {
    id: "SANDBOX_0",
    attempt: 0,
    ready: outcome.ended !== true,
    createdAtNs: 1n,
    ips: hostNetwork ? [] : ["10.88.0.5"],
    networkMode: hostNetwork ? "NODE" : "POD",
    runtimeHandler: "",
  };
  const creates = recording.cri.filter(({ call }) => call === "CreateContainer");
  const containers = creates.map(({ request }, index) => observeContainer(request, { index, creates, outcome }));
  const sandboxes = outcome.noSandbox === true ? [] : [serving];
  return { uid, name, namespace, sandboxes, containers: containers.reverse(), lookedAtMs: 0 };
}

function observeContainer(
  request: CriRequest,
  at: { readonly index: number; readonly creates: Recording["cri"]; readonly outcome: Outcome },
): ObservedContainer {
  const name = request.config?.metadata?.name ?? "";
  const attempt = request.config?.metadata?.attempt ?? 0;
  const exit = at.outcome.exits?.[name];
  const superseded = at.creates.some(
    (other, index) => index > at.index && other.request.config?.metadata?.name === name,
  );
  const state = exit === undefined && !superseded ? "running" : "exited";
  const [uid, gid, supplementalGroups] = at.outcome.users?.[name] ?? [0n, 0n, [0n]];
  return {
    id: `CONTAINER_${at.index}`,
    sandboxId: "SANDBOX_0",
    name,
    attempt,
    state,
    createdAtNs: BigInt(at.index + 1),
    startedAtMs: exit?.neverStarted === true ? undefined : 1_767_225_580_000,
    finishedAtMs: state === "exited" ? 1_767_225_590_000 : undefined,
    exitCode: exit?.exitCode ?? 0,
    reason: exit?.reason ?? "",
    message: exit?.message ?? "",
    image: "localhost/busybox:1.35",
    imageRef: "IMAGE_ID",
    imageId: "IMAGE_ID",
    hash: "",
    restartCount: attempt,
    labels: {},
    annotations: {},
    resources: resourcesOf(request),
    user: { uid, gid, supplementalGroups },
    stopSignal: undefined,
    logPath: "",
    terminationMessage: exit?.terminationMessage,
  };
}

/** The runtime reports the resources that it was given. */
function resourcesOf(request: CriRequest): ObservedContainer["resources"] {
  const given = request.config?.linux?.resources ?? {};
  const amount = (field: string): bigint => BigInt((given[field] as string | undefined) ?? 0);
  return {
    cpuPeriod: amount("cpu_period"),
    cpuQuota: amount("cpu_quota"),
    cpuShares: amount("cpu_shares"),
    memoryLimitInBytes: amount("memory_limit_in_bytes"),
  };
}

/** The start error whose text the event `Failed` tells. */
function failedEvent(reason: string): NonNullable<Outcome["startErrors"]> {
  return (_pod, recording) => {
    const inspect = recording.events.find((event) => event.reason === "InspectFailed")?.message;
    const failed = recording.events.find((event) => event.reason === "Failed" && event.message.startsWith("Error: "));
    return { c: { reason, message: inspect ?? failed?.message.slice("Error: ".length) ?? "" } };
  };
}

function backOff(containerName: string, durationMs: number): NonNullable<Outcome["startErrors"]> {
  return (pod) => ({
    [containerName]: {
      reason: "CrashLoopBackOff",
      message: crashBackOffMessage({ pod, containerName, durationMs }),
    },
  });
}

function anonymous(status: PodStatus): unknown {
  const text = JSON.stringify(status)
    .replaceAll("10.88.0.5", "POD_IP")
    .replaceAll("192.0.2.10", "HOST_IP")
    .replace(/"2026-01-01T00:00:00Z"|"2025-12-31T23:59:[0-9]{2}Z"/g, '"TIME"');
  return JSON.parse(text);
}

function expected(name: string, status: PodStatus): unknown {
  const { memory, ...limits } = status.resources?.limits ?? {};
  const resources =
    memory === UNLIMITED
      ? { ...status.resources, limits: Object.keys(limits).length > 0 ? limits : undefined }
      : status.resources;
  const lost = LOST_LIMITS[name];
  return JSON.parse(JSON.stringify({ ...status, resources: lost ?? resources }));
}
