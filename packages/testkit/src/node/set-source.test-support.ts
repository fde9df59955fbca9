import type { Pod, PodSource, PodView } from "@nodelet/core";
import { SimulatedNode, type SimulatedNodeOptions } from "./simulated-node.ts";

export const IMAGE = "localhost/busybox:1.35";

/** A source that wants what a test says: static pods under the names `file` and `http`. */
export class SetSource implements PodSource {
  readonly name: string;
  #pods: readonly Pod[] = [];
  readonly #listeners = new Set<(pods: readonly Pod[]) => void>();

  constructor(name = "file") {
    this.name = name;
  }

  set(...pods: readonly Pod[]): void {
    this.#pods = pods;
    for (const listener of this.#listeners) listener(pods);
  }

  run({ onPods, signal }: Parameters<PodSource["run"]>[0]): Promise<void> {
    this.#listeners.add(onPods);
    onPods(this.#pods);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }
}

/** A pod that runs one server in container `c`, with what a source fills in. */
export function staticPod(
  metadata: { readonly name: string; readonly uid: string },
  spec: Partial<NonNullable<Pod["spec"]>> = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", ...metadata },
    spec: {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 20,
      containers: [{ name: "c", image: IMAGE, command: ["server"] }],
      ...spec,
    },
    status: { phase: "Pending" },
  };
}

/** A node that listens to the source and has the image. */
export function nodeWith(source: PodSource, options: SimulatedNodeOptions = {}): SimulatedNode {
  const node = new SimulatedNode({ ...options, sources: [source] });
  node.images.add(IMAGE);
  return node;
}

/** The pod as the agent sees it. */
export function viewOf(node: SimulatedNode, uid: string): PodView | undefined {
  return node.agent.pods().find(({ pod }) => pod.metadata?.uid === uid);
}

/** Names of the changing calls so far. */
export function callsOf(node: SimulatedNode): readonly string[] {
  return node.runtime.calls.map(({ call }) => call);
}

/** Moves time until every pod runs. */
export async function untilRunning(node: SimulatedNode): Promise<void> {
  await node.untilPods(({ status }) => status?.phase === "Running", { limitMs: 10_000 });
}
