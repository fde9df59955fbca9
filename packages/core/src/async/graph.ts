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
 * and throws before anything runs. The work beside `run` grows with the number of edges only.
 */
export async function runGraph<N extends GraphNode>(
  nodes: readonly N[],
  run: (node: N) => Promise<boolean>,
): Promise<ReadonlyMap<string, NodeOutcome>> {
  const states = connect(nodes);
  assertAcyclic(states);
  return new GraphRun(states, run).outcomes();
}

interface NodeState<N> {
  readonly node: N;
  /** Edges to nodes that have not ended. */
  open: number;
  begun: boolean;
  /** Nodes with an edge from this one, and whether they need it. In the order of the nodes. */
  readonly dependents: { readonly state: NodeState<N>; readonly needs: boolean }[];
}

function connect<N extends GraphNode>(nodes: readonly N[]): readonly NodeState<N>[] {
  const states = nodes.map((node): NodeState<N> => ({ node, open: 0, begun: false, dependents: [] }));
  const byId = Map.groupBy(states, ({ node }) => node.id);
  for (const state of states) {
    const edges = [
      ...state.node.needs.map((id) => ({ id, needs: true })),
      ...state.node.after.map((id) => ({ id, needs: false })),
    ];
    for (const { id, needs } of edges) {
      for (const before of byId.get(id) ?? []) {
        before.dependents.push({ state, needs });
        state.open += 1;
      }
    }
  }
  return states;
}

/** Takes away what has no open edge until nothing is left: what stays lies on a cycle, or behind one. */
function assertAcyclic<N extends GraphNode>(states: readonly NodeState<N>[]): void {
  const open = new Map(states.map((state) => [state, state.open]));
  const free = states.filter((state) => state.open === 0);
  for (const state of free) {
    open.delete(state);
    for (const { state: next } of state.dependents) {
      const left = (open.get(next) ?? 0) - 1;
      open.set(next, left);
      if (left === 0) free.push(next);
    }
  }
  const [stuck] = open.keys();
  if (stuck !== undefined) throw new Error(`graph has a cycle through ${stuck.node.id}`);
}

class GraphRun<N extends GraphNode> {
  readonly #states: readonly NodeState<N>[];
  readonly #run: (node: N) => Promise<boolean>;
  readonly #outcomes = new Map<string, NodeOutcome>();
  readonly #done = Promise.withResolvers<ReadonlyMap<string, NodeOutcome>>();
  #left: number;

  constructor(states: readonly NodeState<N>[], run: (node: N) => Promise<boolean>) {
    this.#states = states;
    this.#run = run;
    this.#left = states.length;
  }

  outcomes(): Promise<ReadonlyMap<string, NodeOutcome>> {
    if (this.#left === 0) this.#done.resolve(this.#outcomes);
    for (const state of this.#states) if (state.open === 0) this.#begin(state);
    return this.#done.promise;
  }

  #begin(state: NodeState<N>): void {
    if (state.begun) return;
    state.begun = true;
    void this.#run(state.node).then((ok) => this.#end(state, ok ? "ok" : "failed"));
  }

  /** A list, not a recursion: a chain of skipped nodes may be as long as the graph. */
  #end(ended: NodeState<N>, how: NodeOutcome): void {
    const ends: { readonly state: NodeState<N>; readonly outcome: NodeOutcome }[] = [{ state: ended, outcome: how }];
    for (const { state, outcome } of ends) {
      this.#outcomes.set(state.node.id, outcome);
      this.#left -= 1;
      for (const { state: next, needs } of state.dependents) {
        next.open -= 1;
        if (next.begun) continue;
        if (needs && outcome !== "ok") {
          next.begun = true;
          ends.push({ state: next, outcome: "skipped" });
        } else if (next.open === 0) this.#begin(next);
      }
    }
    if (this.#left === 0) this.#done.resolve(this.#outcomes);
  }
}
