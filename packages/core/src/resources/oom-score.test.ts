import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../api/index.ts";
import { oomScoreAdj } from "./oom-score.ts";

const GIB = 1_073_741_824n;

function container(memory: string | undefined, extra: Partial<Container> = {}): Container {
  return { name: "c", ...(memory === undefined ? {} : { resources: { requests: { memory } } }), ...extra };
}

function score(
  pod: Pod["spec"],
  options: { readonly name?: string; readonly metadata?: Pod["metadata"] } = {},
): number {
  const all = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
  return oomScoreAdj({
    pod: { spec: pod ?? { containers: [] }, metadata: options.metadata ?? {} },
    container: all.find(({ name }) => name === (options.name ?? "c"))!,
    nodeMemoryBytes: 10n * GIB,
  });
}

describe("by QoS class on a node of 10 GiB", () => {
  const full = { cpu: "1", memory: "1Gi" };
  test.each<[string, Container, number]>([
    ["Guaranteed", { name: "c", resources: { requests: full, limits: full } }, -997],
    ["BestEffort", container(undefined), 1000],
    ["half the memory", container("5Gi"), 500],
    ["a third, cut to whole points: 1000 - 333", container("3579139413"), 667],
    ["nearly nothing stays below BestEffort", container("1Mi"), 999],
    ["no memory, but cpu", { name: "c", resources: { requests: { cpu: "1" } } }, 999],
    ["everything stays above Guaranteed", container("10Gi"), 3],
    ["more than there is", container("20Gi"), 3],
  ])("%s", (_, only, expected) => {
    expect(score({ containers: [only] })).toBe(expected);
  });
});

describe("node-critical pods die last", () => {
  const containers = [container("1Gi")];
  const priorityClassName = "system-node-critical";
  test("by priority", () => {
    expect(score({ containers, priorityClassName, priority: 2_000_001_000 })).toBe(-997);
  });
  test("by being static", () => {
    const metadata = { annotations: { "kubernetes.io/config.source": "file" } };
    expect(score({ containers, priorityClassName }, { metadata })).toBe(-997);
  });
  test("not by the name of the class alone", () => {
    expect(score({ containers, priorityClassName, priority: 0 })).toBe(900);
  });
  test("not by priority alone", () => {
    expect(score({ containers, priorityClassName: "system-cluster-critical", priority: 2_000_000_000 })).toBe(900);
  });
});

test("a sidecar dies no earlier than the regular container with the least memory", () => {
  const regular = [container("2Gi", { name: "a" }), container("1Gi", { name: "b" })];
  const initContainers = [container("100Mi", { name: "s", restartPolicy: "Always" })];
  expect(score({ containers: regular, initContainers }, { name: "s" })).toBe(900);
  const plainInit = [container("100Mi", { name: "s" })];
  expect(score({ containers: regular, initContainers: plainInit }, { name: "s" })).toBe(991);
});

test("what the pod asked for beyond its containers counts for each in equal parts", () => {
  const containers = [container("1Gi", { name: "a" }), container("1Gi", { name: "b" })];
  // 6 GiB asked, 2 GiB allocated: 2 GiB more for each of the two, 3 of 10 GiB.
  expect(score({ containers, resources: { requests: { memory: "6Gi" } } }, { name: "a" })).toBe(700);
});
