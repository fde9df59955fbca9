import type { Pod, PodStatus } from "@nodelet/core";
import { lastingContainers } from "./chaos-pods.test-support.ts";
import type { SimulatedNode } from "./simulated-node.ts";

/** A pod with the status that was told of it last. */
export interface JudgedPod {
  readonly pod: Pod;
  readonly status: PodStatus | undefined;
}

/** What does not hold of one pod that is wanted: containers that can run, run, and what was told of them is what the runtime has. */
export function judgePod(node: SimulatedNode, { pod, status }: JudgedPod): readonly string[] {
  const { uid = "", name = "" } = pod.metadata ?? {};
  const phase = status?.phase;
  const running = node.runtime.running().filter((container) => container.podUid === uid);
  if (phase === "Succeeded" || phase === "Failed")
    return running.length > 0 ? [`pod ${name} is ${phase} and ${running.length} containers run`] : [];
  if (pod.metadata?.deletionTimestamp !== undefined) return [`pod ${name} is still being deleted`];
  // Upstream's rule: a pod with restartPolicy Never whose sandbox was lost after a container ran gets no new one.
  const serves = node.runtime
    .sandboxes()
    .some(({ metadata, state }) => metadata.uid === uid && state === "SANDBOX_READY");
  const stranded = pod.spec?.restartPolicy === "Never" && !serves;
  return lastingContainers(pod).flatMap((container) => {
    const label = `${name}/${container.name}`;
    const live = running.find(({ metadata }) => metadata.name === container.name);
    const told = status?.containerStatuses?.find((entry) => entry.name === container.name);
    if (live === undefined) {
      const ended = told?.state?.terminated !== undefined && pod.spec?.restartPolicy !== "Always";
      return ended || stranded ? [] : [`container ${label} does not run`];
    }
    return [
      ...(told?.containerID === `containerd://${live.id}` ? [] : [`status of ${label} tells another container`]),
      ...(told?.ready === true ? [] : [`container ${label} runs and is not told ready`]),
    ];
  });
}

/** What the runtime still has of pods that nobody wants. */
export function judgeLeftovers(node: SimulatedNode, wanted: ReadonlySet<string>): readonly string[] {
  const containers = node.runtime.containers().filter(({ podUid }) => !wanted.has(podUid));
  const sandboxes = node.runtime.sandboxes().filter(({ metadata }) => !wanted.has(metadata.uid));
  return [
    ...containers.map(({ id }) => `container ${id} of a pod that is gone is left`),
    ...sandboxes.map(({ id }) => `sandbox ${id} of a pod that is gone is left`),
  ];
}

/** What is left on a node whose pods are all gone; `foreign` pods of others stay. */
export function judgeEmpty(node: SimulatedNode, foreign: ReadonlySet<string>): readonly string[] {
  const { runtime, files, cgroups, agent } = node;
  const problems = [...judgeLeftovers(node, foreign)];
  const foreignIps = runtime
    .sandboxes()
    .filter(({ metadata, state }) => foreign.has(metadata.uid) && state === "SANDBOX_READY");
  if (runtime.ipsTaken > foreignIps.length) problems.push(`${runtime.ipsTaken - foreignIps.length} addresses are left`);
  for (const path of ["/var/lib/kubelet/pods", "/var/log/pods", "/var/log/containers"]) {
    const left = files.list(path);
    if (left.length > 0) problems.push(`${path} still holds ${left.join(", ")}`);
  }
  const pods = cgroups.paths().filter((path) => /pod[0-9a-f]/.test(path));
  if (pods.length > 0) problems.push(`cgroups are left: ${pods.join(", ")}`);
  if (agent.pods().length > 0) problems.push(`the agent still holds ${agent.pods().length} pods`);
  return problems;
}
