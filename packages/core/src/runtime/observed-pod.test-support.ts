import type { Container, Pod, PodSpec } from "../api/index.ts";
import type { ObservedContainer, ObservedPod, ObservedSandbox } from "./observed-pod.ts";
import { definitionHash } from "./plan/container-hash.ts";
import { NO_PROBES, type PodSnapshot, type ProbeOutcome, type ProbeResults } from "./pod-snapshot.ts";

/** 2026-01-01T00:00:00Z. */
export const NOW_MS = 1_767_225_600_000;
const NS_PER_MS = 1_000_000n;

/** A container of a spec, with an image of its own name. */
export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: `example.com/${name}:1`, ...more };
}

/** A sidecar of a spec. */
export function sidecar(name: string, more: Partial<Container> = {}): Container {
  return container(name, { restartPolicy: "Always", ...more });
}

/** Pod default/web with UID u1; regular container `app` unless the spec says otherwise. */
export function podOf(spec: Partial<PodSpec> = {}, more: Partial<Pod> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    ...more,
    metadata: { name: "web", namespace: "default", uid: "u1", generation: 1, ...more.metadata },
    spec: { containers: [container("app")], restartPolicy: "Always", terminationGracePeriodSeconds: 30, ...spec },
  };
}

/** A ready sandbox with an address. */
export function sandbox(id: string, more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return {
    id,
    attempt: 0,
    ready: true,
    createdAtNs: BigInt(NOW_MS - 60_000) * NS_PER_MS,
    ips: ["10.88.0.5"],
    networkMode: "POD",
    runtimeHandler: "",
    ...more,
  };
}

/** One instance of container `name`; running in sandbox s1 unless said otherwise. `ageMs` before now it was created. */
export function instance(
  name: string,
  more: Partial<ObservedContainer> & { readonly ageMs?: number } = {},
): ObservedContainer {
  const { ageMs = 30_000, ...fields } = more;
  const state = more.state ?? "running";
  const createdMs = NOW_MS - ageMs;
  const restartCount = more.restartCount ?? 0;
  return {
    id: `${name}-${restartCount}`,
    sandboxId: "s1",
    name,
    attempt: restartCount,
    state,
    createdAtNs: BigInt(createdMs) * NS_PER_MS,
    startedAtMs: state === "created" ? undefined : createdMs + 100,
    finishedAtMs: state === "exited" ? createdMs + 5000 : undefined,
    exitCode: 0,
    reason: state === "exited" ? (more.exitCode === undefined || more.exitCode === 0 ? "Completed" : "Error") : "",
    message: "",
    image: `example.com/${name}:1`,
    imageRef: `sha256:${name}`,
    imageId: `sha256:${name}`,
    hash: definitionHash(container(name)),
    restartCount,
    labels: {},
    annotations: {},
    resources: undefined,
    user: undefined,
    stopSignal: undefined,
    logPath: "",
    terminationMessage: undefined,
    ...fields,
  };
}

/** An exited instance. */
export function exited(
  name: string,
  exitCode: number,
  more: Partial<ObservedContainer> & { readonly ageMs?: number } = {},
): ObservedContainer {
  return instance(name, { state: "exited", exitCode, ...more });
}

/** Pod u1 as observed; sandbox s1 serves unless other sandboxes are given. Containers in any order. */
export function observedPod(
  containers: readonly ObservedContainer[] = [],
  sandboxes: readonly ObservedSandbox[] = [sandbox("s1")],
): ObservedPod {
  const newestFirst = [...containers].sort((left, right) => (left.createdAtNs < right.createdAtNs ? 1 : -1));
  return { uid: "u1", name: "web", namespace: "default", sandboxes, containers: newestFirst, lookedAtMs: 0 };
}

/** Probe results by container id; absent = no probe of that type. */
export function probesOf(results: {
  readonly liveness?: Readonly<Record<string, ProbeOutcome>>;
  readonly readiness?: Readonly<Record<string, ProbeOutcome>>;
  readonly startup?: Readonly<Record<string, ProbeOutcome>>;
}): ProbeResults {
  return {
    liveness: (id) => results.liveness?.[id],
    readiness: (id) => results.readiness?.[id],
    startup: (id) => results.startup?.[id],
  };
}

/** A snapshot for planning. */
export function planSnapshot(pod: Pod, observed: ObservedPod, more: Partial<PodSnapshot> = {}): PodSnapshot {
  return {
    pod,
    observed,
    probes: NO_PROBES,
    crashBackOff: new Map(),
    highestLogAttempt: new Map(),
    nowMs: NOW_MS,
    ...more,
  };
}
