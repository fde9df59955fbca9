import { standardImages } from "@nodelet/dev-node";

/** How the container's process takes SIGTERM: process 1 of a container ignores it unless it asked for it. */
export type Behaviour = "ignores" | "obeys";

/** What the floor and the agent are given alike. */
export interface Workload {
  /** Names its pods: two workloads on one node must differ in it. */
  readonly name: string;
  readonly pods: number;
  readonly behaviour: Behaviour;
}

/** One pod of a workload. */
export interface BenchPod {
  readonly name: string;
  readonly uid: string;
  readonly command: readonly string[];
}

/** Seconds that a container gets between SIGTERM and SIGKILL. */
export const GRACE_SECONDS = 2;
/** Name of a pod's only container. */
export const CONTAINER = "app";
/** Namespace of every pod. */
export const NAMESPACE = "default";
/** An image that the node has. */
export const IMAGE: string = standardImages.busybox;

const COMMANDS: Readonly<Record<Behaviour, readonly string[]>> = {
  ignores: ["sleep", "86400"],
  obeys: ["sh", "-c", "trap 'exit 0' TERM; sleep 86400 & wait"],
};

/** The pods of a workload. Their UIDs are those that the floor uses; the agent gives its own. */
export function podsOf(workload: Workload): readonly BenchPod[] {
  return Array.from({ length: workload.pods }, (_, index) => ({
    name: `${workload.name}-${index}`,
    uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    command: COMMANDS[workload.behaviour],
  }));
}

/** A pod as a manifest file. */
export function manifestOf(pod: BenchPod): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${pod.name}
  labels: { bench: startup }
spec:
  terminationGracePeriodSeconds: ${GRACE_SECONDS}
  containers:
    - name: ${CONTAINER}
      image: ${IMAGE}
      imagePullPolicy: IfNotPresent
      command: ${JSON.stringify(pod.command)}
`;
}
