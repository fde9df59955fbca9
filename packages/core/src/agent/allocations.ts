import {
  Amount,
  type Container,
  type ContainerStatus,
  findCondition,
  findContainerStatus,
  int64ToNumber,
  type Pod,
  type Quantity,
  type ResourceRequirements,
} from "../api/index.ts";
import type { DecisionSink } from "../decisions/decision.ts";
import type { PendingResize, ResizeState } from "../status/status-snapshot.ts";
import { podRef } from "./pod-ref.ts";

/** Resources that a pod was given: of its containers by name, and of the pod as a whole. */
export interface Allocation {
  readonly containers: ReadonlyMap<string, ResourceRequirements>;
  readonly pod: ResourceRequirements | undefined;
}

interface Entry {
  readonly allocation: Allocation;
  pending: PendingResize | undefined;
  /** The resources asked for when `pending` was decided, as text. */
  asked: string;
}

/**
 * The ledger of what pods were allocated (KEP-1287). A pod is allocated what it asks for when it is first seen. What it asks for later is not carried
 * out yet: workers, plan and status go on seeing the allocated resources, and the pod says so in the condition PodResizePending, reason Infeasible,
 * until the wish is taken back. After a restart of the agent the pod's status tells what was allocated.
 */
export class Allocations {
  readonly #decisions: DecisionSink;
  readonly #byUid = new Map<string, Entry>();

  constructor(options: { readonly decisions: DecisionSink }) {
    this.#decisions = options.decisions;
  }

  /** The pod with the resources that it was allocated, which are its own when it is seen for the first time. */
  take(pod: Pod): Pod {
    const { uid } = podRef(pod);
    const entry = this.#byUid.get(uid) ?? open(pod);
    this.#byUid.set(uid, entry);
    const differing = resizedParts(pod, entry.allocation);
    if (differing.length === 0) {
      entry.pending = undefined;
      return pod;
    }
    const asked = JSON.stringify(resizable(pod), bigintAsText);
    if (entry.pending === undefined || (entry.asked !== "" && entry.asked !== asked))
      this.#refuse(pod, entry, differing);
    entry.asked = asked;
    return withAllocated(pod, entry.allocation);
  }

  /** What the pod's status says of resizes. */
  resizeOf(podUid: string): ResizeState {
    return { pending: this.#byUid.get(podUid)?.pending };
  }

  /** Drops a pod that left its source. */
  forget(podUid: string): void {
    this.#byUid.delete(podUid);
  }

  /** How many pods are held. */
  get size(): number {
    return this.#byUid.size;
  }

  #refuse(pod: Pod, entry: Entry, differing: readonly string[]): void {
    if (pod.metadata?.deletionTimestamp !== undefined) return;
    const message = `In-place resize is not built yet: ${differing.join(", ")} keeps the resources that were allocated; delete the pod and create it anew to change them`;
    const reason = "Infeasible";
    const observedGeneration = pod.metadata?.generation;
    entry.pending = { reason, message, ...(observedGeneration !== undefined && { observedGeneration }) };
    this.#decisions.record({
      action: "reject",
      pod: podRef(pod),
      reason: "ResizeInfeasible",
      message,
      inputs: { generation: int64ToNumber(observedGeneration ?? 0) },
      outcome: "rejected",
      event: { type: "Warning", reason: "ResizeInfeasible", message: eventMessage(pod, message) },
    });
  }
}

/** The pod with other resources. The same object when they do not differ. */
export function withAllocated(pod: Pod, allocation: Allocation): Pod {
  if (resizedParts(pod, allocation).length === 0) return pod;
  const substitute = (container: Container): Container => {
    const resources = allocation.containers.get(container.name);
    const differs = resources !== undefined && !sameResources(resources, container.resources ?? {});
    return differs ? { ...container, resources } : container;
  };
  const { resources: _asked, ...spec } = pod.spec ?? { containers: [] };
  return {
    ...pod,
    spec: {
      ...spec,
      ...(allocation.pod !== undefined && { resources: allocation.pod }),
      containers: spec.containers.map(substitute),
      ...(spec.initContainers !== undefined && { initContainers: spec.initContainers.map(substitute) }),
    },
  };
}

/**
 * What a pod that is seen for the first time was allocated: what it asks for, unless its status tells of an earlier spec (a pending resize, or an
 * older generation) and of other resources than now.
 */
export function allocationOf(pod: Pod): Allocation {
  const asked = resizable(pod);
  const { generation } = pod.metadata ?? {};
  const shown = pod.status?.observedGeneration;
  const pending = findCondition(pod.status?.conditions, "PodResizePending")?.status === "True";
  const older = generation !== undefined && shown !== undefined && shown < generation;
  if (!pending && !older) return asked;
  const containers = [...asked.containers].map(([name, resources]): [string, ResourceRequirements] => {
    const earlier = allocatedByStatus(findContainerStatus(pod, name), resources);
    return [name, earlier !== undefined && !sameResources(earlier, resources) ? earlier : resources];
  });
  return { containers: new Map(containers), pod: asked.pod };
}

function open(pod: Pod): Entry {
  const allocation = allocationOf(pod);
  const told = findCondition(pod.status?.conditions, "PodResizePending");
  const isTold = told?.status === "True" && (told.reason === "Infeasible" || told.reason === "Deferred");
  if (!isTold) return { allocation, pending: undefined, asked: "" };
  const { reason, message = "", observedGeneration } = told;
  const pending: PendingResize = {
    reason: reason as PendingResize["reason"],
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
  return { allocation, pending, asked: "" };
}

/** Requests are shown as they were allocated; a limit that the status does not show was none. */
function allocatedByStatus(
  status: ContainerStatus | undefined,
  asked: ResourceRequirements,
): ResourceRequirements | undefined {
  if (status?.resources === undefined) return undefined;
  const requests = status.allocatedResources ?? status.resources.requests;
  const { limits } = status.resources;
  const { claims } = asked;
  return { ...(requests && { requests }), ...(limits && { limits }), ...(claims && { claims }) };
}

/** Resources of all parts of the pod that can be resized. */
function resizable(pod: Pod): Allocation {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return {
    containers: new Map(containers.map(({ name, resources = {} }) => [name, resources])),
    pod: pod.spec?.resources,
  };
}

/** Words for the parts whose wish differs from what they were allocated. */
function resizedParts(pod: Pod, allocation: Allocation): readonly string[] {
  const asked = resizable(pod);
  const parts = [...asked.containers]
    .filter(([name, resources]) => {
      const given = allocation.containers.get(name);
      return given !== undefined && !sameResources(given, resources);
    })
    .map(([name]) => `container ${name}`);
  return sameResources(allocation.pod ?? {}, asked.pod ?? {}) ? parts : ["the pod", ...parts];
}

/** Equal amounts of everything, however they are written. */
function sameResources(left: ResourceRequirements, right: ResourceRequirements): boolean {
  if (left === right) return true;
  return sameAmounts(left.requests, right.requests) && sameAmounts(left.limits, right.limits);
}

function sameAmounts(
  left: { readonly [name: string]: Quantity } = {},
  right: { readonly [name: string]: Quantity } = {},
): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => {
      const other = Object.hasOwn(right, name) ? right[name] : undefined;
      return other !== undefined && Amount.parse(left[name] ?? 0).compare(Amount.parse(other)) === 0;
    })
  );
}

/** The kubelet's message: what is asked for as JSON, and why it is refused. */
function eventMessage(pod: Pod, error: string): string {
  const row = ({ name, resources = {} }: Container): object => ({ name, resources });
  const init = (pod.spec?.initContainers ?? []).map(row);
  const details = {
    ...(init.length > 0 && { initContainers: init }),
    containers: (pod.spec?.containers ?? []).map(row),
    generation: pod.metadata?.generation ?? 0,
    error,
  };
  return `Pod resize Infeasible: ${JSON.stringify(details, bigintAsText)}`;
}

function bigintAsText(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  return typeof value === "bigint" ? String(value) : value;
}
