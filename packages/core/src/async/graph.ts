/** What came of one node of a graph. */
export type NodeOutcome = "ok" | "failed" | "skipped";

/** One node with its incoming edges, named by node id. */
export interface GraphNode {
  readonly id: string;
  /** Nodes that must have ended well. */
  readonly needs: readonly string[];
  /** Nodes that must have ended, whatever came of them. */
  readonly after: readonly string[];
}

/**
 * Runs a graph of nodes, each as soon as its edges allow, all that can run at once at once. `run` answers whether the node succeeded and must
 * not reject. A node whose need failed or was skipped is skipped. Unknown names in edges count as ended well; a cycle is a programming error
 * and throws before anything runs.
 */
export async function runGraph<N extends GraphNode>(
  nodes: readonly N[],
  run: (node: N) => Promise<boolean>,
): Promise<ReadonlyMap<string, NodeOutcome>> {
  assertAcyclic(nodes);
  const known = new Set(nodes.map((node) => node.id));
  const outcomes = new Map<string, NodeOutcome>();
  const waiting = new Set(nodes);
  const running = new Set<Promise<void>>();
  const startReady = (): void => {
    let progressed = true;
    while (progressed) {
      progressed = false;
      for (const node of waiting) {
        const needs = node.needs.filter((id) => known.has(id));
        const ended = (id: string): boolean => outcomes.has(id) || !known.has(id);
        if (needs.some((id) => outcomes.has(id) && outcomes.get(id) !== "ok")) {
          waiting.delete(node);
          outcomes.set(node.id, "skipped");
          progressed = true;
        } else if (needs.every(ended) && node.after.every(ended)) {
          waiting.delete(node);
          const work: Promise<void> = run(node).then((ok) => {
            outcomes.set(node.id, ok ? "ok" : "failed");
            running.delete(work);
          });
          running.add(work);
        }
      }
    }
  };
  startReady();
  while (running.size > 0) {
    await Promise.race(running);
    startReady();
  }
  return outcomes;
}

function assertAcyclic(nodes: readonly GraphNode[]): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const state = new Map<string, "open" | "closed">();
  const visit = (id: string): void => {
    const node = byId.get(id);
    if (node === undefined || state.get(id) === "closed") return;
    if (state.get(id) === "open") throw new Error(`graph has a cycle through ${id}`);
    state.set(id, "open");
    for (const edge of node.needs) visit(edge);
    for (const edge of node.after) visit(edge);
    state.set(id, "closed");
  };
  for (const node of nodes) visit(node.id);
}
