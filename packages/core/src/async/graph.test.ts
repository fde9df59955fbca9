import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GraphNode, runGraph } from "./graph.ts";

const node = (
  id: string,
  edges: { readonly needs?: readonly string[]; readonly after?: readonly string[] } = {},
): GraphNode => ({
  id,
  needs: edges.needs ?? [],
  after: edges.after ?? [],
});

describe("runGraph", () => {
  it("runs what is free at once and the rest behind its edges", async () => {
    const order: string[] = [];
    const gates = new Map(["a", "b"].map((id) => [id, Promise.withResolvers<void>()]));
    const done = runGraph([node("c", { needs: ["a"], after: ["b"] }), node("a"), node("b")], async ({ id }) => {
      order.push(id);
      await gates.get(id)?.promise;
      return true;
    });
    await Promise.resolve();
    expect(order).toEqual(["a", "b"]);
    gates.get("a")?.resolve();
    await Promise.resolve();
    expect(order).toEqual(["a", "b"]);
    gates.get("b")?.resolve();
    expect([...(await done)]).toEqual(expect.arrayContaining([["c", "ok"]]));
    expect(order).toEqual(["a", "b", "c"]);
  });

  it("skips what needed a failure, and all that needed the skipped, but not what only came after", async () => {
    const nodes = [node("a"), node("b", { needs: ["a"] }), node("c", { needs: ["b"] }), node("d", { after: ["b"] })];
    const outcomes = await runGraph(nodes, async ({ id }) => id !== "a");
    expect(Object.fromEntries(outcomes)).toEqual({ a: "failed", b: "skipped", c: "skipped", d: "ok" });
  });

  it("takes an edge to nothing as satisfied", async () => {
    const outcomes = await runGraph([node("a", { needs: ["gone"], after: ["gone"] })], async () => true);
    expect(outcomes.get("a")).toBe("ok");
  });

  it("refuses a cycle before anything runs", async () => {
    let ran = false;
    const run = runGraph([node("a", { needs: ["b"] }), node("b", { after: ["a"] })], async () => {
      ran = true;
      return true;
    });
    await expect(run).rejects.toThrow("cycle");
    expect(ran).toBe(false);
  });

  it("gives every node of a random graph one outcome, and starts none before its edges ended", async () => {
    const graphs = fc.array(
      fc.tuple(fc.array(fc.nat(9), { maxLength: 3 }), fc.array(fc.nat(9), { maxLength: 3 }), fc.boolean()),
      { maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(graphs, async (shape) => {
        // Edges only lead to earlier nodes: no cycles.
        const earlier = (ids: readonly number[], at: number): string[] => ids.filter((id) => id < at).map(String);
        const nodes = shape.map(([needs, after], at) =>
          node(String(at), { needs: earlier(needs, at), after: earlier(after, at) }),
        );
        const ended = new Set<string>();
        const early: string[] = [];
        const outcomes = await runGraph(nodes, async ({ id, needs, after }) => {
          const waitsFor = [...needs, ...after.filter((edge) => !wouldSkip(nodes, edge, shape))];
          early.push(...waitsFor.filter((edge) => !ended.has(edge)).map((edge) => `${id} before ${edge}`));
          await Promise.resolve();
          ended.add(id);
          return shape[Number(id)]?.[2] ?? false;
        });
        expect(early).toEqual([]);
        expect([...outcomes.keys()].sort()).toEqual(nodes.map(({ id }) => id).sort());
        const skipped = nodes.filter(({ id }) => wouldSkip(nodes, id, shape)).map(({ id }) => outcomes.get(id));
        expect(new Set(skipped)).toEqual(new Set(skipped.length > 0 ? ["skipped"] : []));
      }),
    );
  });
});

/** Whether a node is skipped, worked out from the shape alone. */
function wouldSkip(
  nodes: readonly GraphNode[],
  id: string,
  shape: readonly (readonly [unknown, unknown, boolean])[],
): boolean {
  const found = nodes.find((candidate) => candidate.id === id);
  return (found?.needs ?? []).some((need) => shape[Number(need)]?.[2] !== true || wouldSkip(nodes, need, shape));
}

it("runs a chain of ten thousand nodes, and skips one, in a moment", { timeout: 5000 }, async () => {
  const chain = Array.from({ length: 10_000 }, (_, at) =>
    node(String(at), at === 0 ? {} : { needs: [String(at - 1)] }),
  );
  const all = await runGraph(chain, async () => true);
  expect([...all.values()].every((outcome) => outcome === "ok")).toBe(true);
  const none = await runGraph(chain, async () => false);
  expect([...none.values()].filter((outcome) => outcome === "skipped")).toHaveLength(9999);
});

it("runs every node of one id, and what waits for them after the last", async () => {
  const order: string[] = [];
  const outcomes = await runGraph([node("a"), node("a"), node("b", { after: ["a"] })], async ({ id }) => {
    await Promise.resolve();
    order.push(id);
    return true;
  });
  expect(order).toEqual(["a", "a", "b"]);
  expect(outcomes.get("b")).toBe("ok");
});
