import { DirectoryPodSource, type Pod, type PodSource, type PodStatus, type PodView } from "@nodelet/core";
import {
  containerdLatency,
  InMemoryDirectoryWatch,
  type RecordedCall,
  SeededRandom,
  SimulatedNode,
  type SimulatedNodeOptions,
} from "@nodelet/testkit";

export const IMAGE = "localhost/busybox:1.35";
export const SECOND = 1000;
export const MINUTE = 60_000;

/** A node that runs, with containerd's latencies and one image. */
export function newNode(options: SimulatedNodeOptions = {}): SimulatedNode {
  const node = new SimulatedNode({
    ...options,
    runtime: { latencyMs: containerdLatency(new SeededRandom(options.seed ?? 1)), ...options.runtime },
  });
  node.images.add(IMAGE);
  node.start();
  return node;
}

/** A pod of one container `c` that serves until it is told to stop. */
export function podOf(name: string, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: {
      terminationGracePeriodSeconds: 2,
      containers: [{ name: "c", image: IMAGE, command: ["server"] }],
      ...spec,
    },
  };
}

/** A container that runs a shell script. */
export function shell(script: string, name = "c"): NonNullable<Pod["spec"]>["containers"][number] {
  return { name, image: IMAGE, command: ["sh", "-c", script] };
}

/** The view of a pod by its name. */
export function viewOf(node: SimulatedNode, name: string): PodView | undefined {
  return node.agent.pods().find(({ pod }) => pod.metadata?.name === name);
}

/** A pod's status as the agent has it. */
export function statusOf(node: SimulatedNode, name: string): PodStatus {
  return viewOf(node, name)?.status ?? {};
}

/** Runs until the pod is in the phase. */
export function untilPhase(node: SimulatedNode, name: string, phase: string): Promise<number> {
  return node.clock.runUntil(() => statusOf(node, name).phase === phase, {
    limitMs: 5 * MINUTE,
    what: `${name} is ${phase}`,
  });
}

/** Changing calls since the last `clearCalls`, as `runSandbox` or `createContainer c`. */
export function callNames(node: SimulatedNode): readonly string[] {
  return node.runtime.calls.map(callName);
}

function callName({ call, request }: RecordedCall): string {
  const { config } = request as { readonly config?: { readonly metadata?: { readonly name?: string } } };
  return call === "createContainer" ? `${call} ${config?.metadata?.name ?? ""}` : call;
}

/** Everything that was written to the sink of statuses about one pod, from now on. */
export function watchStatuses(node: SimulatedNode, name: string): readonly PodStatus[] {
  const statuses: PodStatus[] = [];
  const { statusSink } = node.pods;
  const write = statusSink.writeStatus.bind(statusSink);
  statusSink.writeStatus = (request) => {
    if (request.pod.metadata?.name === name) statuses.push(request.status);
    return write(request);
  };
  return statuses;
}

/** Events as `reason: message`, of one pod or all. */
export function eventsOf(node: SimulatedNode, name?: string): readonly string[] {
  return node.events.events
    .filter(({ involved }) => name === undefined || involved.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

/** A node with a manifest directory. */
export interface ManifestNode {
  readonly node: SimulatedNode;
  readonly directory: InMemoryDirectoryWatch;
  readonly write: (name: string, content: string) => void;
  readonly remove: (name: string) => void;
}

/** Where the manifests of a ManifestNode lie. */
export const MANIFESTS = "/etc/kubernetes/manifests";

/** A node that takes static pods from a directory, not started yet. Each life of the agent reads it with a source of its own. */
export function manifestNode(options: SimulatedNodeOptions = {}): ManifestNode {
  const source: PodSource = {
    name: "file",
    run: (request) => newSource().run(request),
  };
  const node = new SimulatedNode({ ...options, sources: [source] });
  const directory = new InMemoryDirectoryWatch({ clock: node.clock });
  const newSource = (): DirectoryPodSource =>
    new DirectoryPodSource({
      path: MANIFESTS,
      watch: directory,
      nodeName: "node-1",
      clock: node.clock,
      logger: node.logger,
      fileCheckFrequencyMs: 20 * SECOND,
    });
  directory.makeDirectory(MANIFESTS);
  node.images.add(IMAGE);
  return {
    node,
    directory,
    write: (name, content) => directory.write({ path: MANIFESTS, name, content }),
    remove: (name) => directory.remove({ path: MANIFESTS, name }),
  };
}
