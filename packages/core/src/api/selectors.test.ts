import { describe, expect, it } from "vitest";
import type { Node, NodeSelectorRequirement, NodeSelectorTerm } from "./gen/core-v1.ts";
import { matchesLabelSelector, matchesNodeAffinity, matchesNodeSelectorTerms } from "./selectors.ts";

const node: Node = {
  metadata: { name: "n1", labels: { zone: "a", cores: "16", odd: "x", big: "9223372036854775807" } },
};
const requirement = (key: string, operator: string, values?: string[]): NodeSelectorRequirement => ({
  key,
  operator,
  values,
});
const term = (...matchExpressions: NodeSelectorRequirement[]): NodeSelectorTerm => ({ matchExpressions });

describe("node selector terms", () => {
  it.each<[NodeSelectorTerm[], boolean]>([
    [[], false],
    [[{}], false],
    [[term(requirement("zone", "In", ["a", "b"]))], true],
    [[term(requirement("zone", "In", ["b"]))], false],
    [[term(requirement("zone", "In", []))], false],
    [[term(requirement("zone", "NotIn", ["b"]))], true],
    [[term(requirement("absent", "NotIn", ["b"]))], true],
    [[term(requirement("zone", "Exists"))], true],
    [[term(requirement("absent", "Exists"))], false],
    [[term(requirement("absent", "DoesNotExist"))], true],
    [[term(requirement("constructor", "Exists"))], false],
    [[term(requirement("cores", "Gt", ["8"]))], true],
    [[term(requirement("cores", "Gt", ["16"]))], false],
    [[term(requirement("cores", "Lt", ["17"]))], true],
    [[term(requirement("big", "Gt", ["9223372036854775806"]))], true],
    [[term(requirement("odd", "Gt", ["1"]))], false],
    [[term(requirement("cores", "Gt", ["1", "2"]))], false],
    [[term(requirement("cores", "Near", ["1"]))], false],
    [[term(requirement("zone", "In", ["a"]), requirement("cores", "Lt", ["2"]))], false],
    [[term(requirement("zone", "In", ["b"])), term(requirement("cores", "Exists"))], true],
    [[{ matchFields: [requirement("metadata.name", "In", ["n1"])] }], true],
    [[{ matchFields: [requirement("metadata.name", "In", ["n2"])] }], false],
    [[{ matchFields: [requirement("metadata.uid", "In", ["n1"])] }], false],
  ])("%j: %s", (terms, expected) => {
    expect(matchesNodeSelectorTerms({ terms, node })).toBe(expected);
  });
});

describe("node affinity of a pod", () => {
  const required = (terms: NodeSelectorTerm[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });

  it("needs both the node selector and the required terms", () => {
    const fits = (nodeSelector: Record<string, string>, terms?: NodeSelectorTerm[]): boolean =>
      matchesNodeAffinity({
        node,
        pod: { spec: { containers: [], nodeSelector, affinity: terms && required(terms) } },
      });
    expect(fits({})).toBe(true);
    expect(fits({ zone: "a" })).toBe(true);
    expect(fits({ zone: "b" })).toBe(false);
    expect(fits({ zone: "a" }, [term(requirement("zone", "In", ["a"]))])).toBe(true);
    expect(fits({ zone: "a" }, [term(requirement("zone", "In", ["b"]))])).toBe(false);
    expect(fits({}, [])).toBe(false);
  });
});

describe("label selectors", () => {
  it("an empty one meets everything, a missing one nothing, others need all parts", () => {
    const labels = { app: "web", tier: "front" };
    expect(matchesLabelSelector({ selector: {}, labels })).toBe(true);
    expect(matchesLabelSelector({ selector: undefined, labels })).toBe(false);
    expect(matchesLabelSelector({ selector: { matchLabels: { app: "web" } }, labels })).toBe(true);
    const mixed = { matchLabels: { app: "web" }, matchExpressions: [requirement("tier", "NotIn", ["front"])] };
    expect(matchesLabelSelector({ selector: mixed, labels })).toBe(false);
    expect(
      matchesLabelSelector({ selector: { matchExpressions: [requirement("n", "Gt", ["1"])] }, labels: { n: "2" } }),
    ).toBe(false);
  });
});
