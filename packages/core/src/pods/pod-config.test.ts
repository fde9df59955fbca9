import { VIRTUAL_EPOCH_MS, VirtualClock } from "@nodelet/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/index.ts";
import type { Decision } from "../decisions/index.ts";
import { mergePodSet, type PodChange, PodConfig, type PodConfigState } from "./pod-config.ts";

interface PodShape {
  readonly uid: string;
  readonly name?: string;
  readonly image?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly deleted?: string;
  readonly phase?: string;
}

function pod({ uid, name = uid, image = "i", labels, annotations, deleted, phase = "Pending" }: PodShape): Pod {
  return {
    metadata: {
      uid,
      name,
      namespace: "default",
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(deleted !== undefined && { deletionTimestamp: deleted, deletionGracePeriodSeconds: 30 }),
    },
    spec: { containers: [{ name: "c", image }] },
    status: { phase },
  };
}

/** Merges the sets one after the other; answers the kinds and UIDs of the last one's changes. */
function lastChanges(...sets: readonly (readonly PodShape[])[]): [string, string[]][] {
  let state: PodConfigState = new Map();
  let changes: readonly PodChange[] = [];
  for (const set of sets) ({ state, changes } = mergePodSet({ state, source: "file", pods: set.map(pod), nowMs: 0 }));
  return changes.map(({ kind, pods }) => [kind, pods.map((changed) => changed.metadata?.uid ?? "")]);
}

describe("one set after another", () => {
  it.each<[string, PodShape[], PodShape[], [string, string[]][]]>([
    ["nothing", [], [], []],
    ["a new pod", [], [{ uid: "a" }], [["add", ["a"]]]],
    ["the same pod", [{ uid: "a" }], [{ uid: "a" }], []],
    ["a pod that is gone", [{ uid: "a" }], [], [["remove", ["a"]]]],
    ["another image", [{ uid: "a" }], [{ uid: "a", image: "j" }], [["update", ["a"]]]],
    ["another label", [{ uid: "a" }], [{ uid: "a", labels: { x: "y" } }], [["update", ["a"]]]],
    ["no labels in place of empty ones", [{ uid: "a", labels: {} }], [{ uid: "a" }], []],
    [
      "another annotation",
      [{ uid: "a", annotations: { x: "1" } }],
      [{ uid: "a", annotations: { x: "2" } }],
      [["update", ["a"]]],
    ],
    ["an annotation that is gone", [{ uid: "a", annotations: { x: "1" } }], [{ uid: "a" }], [["update", ["a"]]]],
    [
      "annotations of the agent",
      [{ uid: "a" }],
      [
        {
          uid: "a",
          annotations: {
            "kubernetes.io/config.source": "x",
            "kubernetes.io/config.seen": "y",
            "kubernetes.io/config.mirror": "z",
          },
        },
      ],
      [],
    ],
    ["another status", [{ uid: "a" }], [{ uid: "a", phase: "Running" }], [["reconcile", ["a"]]]],
    [
      "another status and another image",
      [{ uid: "a" }],
      [{ uid: "a", phase: "Running", image: "j" }],
      [["update", ["a"]]],
    ],
    ["a deletion", [{ uid: "a" }], [{ uid: "a", deleted: "2026-01-01T00:00:00Z" }], [["delete", ["a"]]]],
    [
      "a replacement under one name",
      [{ uid: "a", name: "n" }],
      [{ uid: "b", name: "n" }],
      [
        ["remove", ["a"]],
        ["add", ["b"]],
      ],
    ],
    [
      "another name under one UID",
      [{ uid: "a", name: "n" }],
      [{ uid: "a", name: "m" }],
      [
        ["remove", ["a"]],
        ["add", ["a"]],
      ],
    ],
    [
      "all of it",
      [{ uid: "a" }, { uid: "b" }, { uid: "c" }, { uid: "d" }],
      [{ uid: "e" }, { uid: "b", image: "j" }, { uid: "c", deleted: "t" }, { uid: "d", phase: "Failed" }],
      [
        ["remove", ["a"]],
        ["add", ["e"]],
        ["update", ["b"]],
        ["delete", ["c"]],
        ["reconcile", ["d"]],
      ],
    ],
  ])("%s", (_, before, after, changes) => {
    expect(lastChanges(before, after)).toEqual(changes);
  });
});

describe("the merged wish", () => {
  it("stamps source and first sight, and keeps them over updates", () => {
    const first = mergePodSet({
      state: new Map(),
      source: "file",
      pods: [pod({ uid: "a" })],
      nowMs: VIRTUAL_EPOCH_MS + 250,
    });
    const seen = { "kubernetes.io/config.source": "file", "kubernetes.io/config.seen": "2026-01-01T00:00:00.25Z" };
    expect(first.changes[0]?.pods[0]?.metadata?.annotations).toEqual(seen);
    const next = mergePodSet({
      state: first.state,
      source: "file",
      pods: [pod({ uid: "a", annotations: { x: "1" } })],
      nowMs: VIRTUAL_EPOCH_MS + 900_000,
    });
    expect(next.changes[0]?.pods[0]?.metadata?.annotations).toEqual({ ...seen, x: "1" });
  });

  it("keeps the object of a pod that did not change", () => {
    const first = mergePodSet({
      state: new Map(),
      source: "api",
      pods: [pod({ uid: "a" }), pod({ uid: "b" })],
      nowMs: 0,
    });
    const next = mergePodSet({
      state: first.state,
      source: "api",
      pods: [pod({ uid: "b", image: "j" }), pod({ uid: "a" })],
      nowMs: 5,
    });
    expect(next.state.get("api")?.get("a")).toBe(first.state.get("api")?.get("a"));
  });

  it.each<[string, Pod[], string]>([
    [
      "name",
      [pod({ uid: "a", name: "n" }), pod({ uid: "b", name: "n" })],
      'Error validating pod n_default(b) from file due to duplicate pod name "n", ignoring',
    ],
    [
      "UID",
      [pod({ uid: "a", name: "n" }), pod({ uid: "a", name: "m" })],
      'Error validating pod m_default(a) from file due to duplicate pod UID "a", ignoring',
    ],
  ])("takes the first of two pods with one %s and tells of the other", (_, pods, message) => {
    const { state, decisions } = mergePodSet({ state: new Map(), source: "file", pods, nowMs: 0 });
    expect([...(state.get("file")?.values() ?? [])].map((kept) => kept.metadata?.name)).toEqual(["n"]);
    expect(decisions).toMatchObject([
      {
        action: "ignore",
        reason: "FailedValidation",
        message,
        event: { type: "Warning", reason: "FailedValidation", message },
      },
    ]);
  });

  it.each(["name", "namespace", "uid"] as const)("ignores a pod that its source gave no %s", (field) => {
    const nameless = pod({ uid: "a" });
    delete nameless.metadata?.[field];
    const pods = [nameless, pod({ uid: "b" })];
    const { state, decisions } = mergePodSet({ state: new Map(), source: "queue", pods, nowMs: 0 });
    expect([...(state.get("queue")?.keys() ?? [])]).toEqual(["b"]);
    expect(decisions).toMatchObject([{ action: "ignore", reason: "FailedValidation", outcome: "rejected" }]);
    expect(decisions[0]?.message).toContain(`from queue due to missing metadata.${field}, ignoring`);
  });

  // A UID is a part of directory and cgroup names, where a slash or an underscore would lead elsewhere.
  it.each([
    ["uid", "../../x"],
    ["uid", "a/b"],
    ["uid", "a_b"],
    ["uid", "."],
    ["uid", "a b"],
    ["uid", "x".repeat(129)],
    ["name", "../etc"],
    ["name", "A"],
    ["namespace", "a.b"],
    ["namespace", "a/b"],
  ] as const)("ignores a pod whose %s is %j", (field, value) => {
    const bad: Pod = { ...pod({ uid: "a" }) };
    bad.metadata = { ...bad.metadata, [field]: value };
    const { state, decisions } = mergePodSet({
      state: new Map(),
      source: "queue",
      pods: [bad, pod({ uid: "b" })],
      nowMs: 0,
    });
    expect([...(state.get("queue")?.keys() ?? [])]).toEqual(["b"]);
    expect(decisions[0]?.message).toContain(`from queue due to invalid metadata.${field} ${JSON.stringify(value)}: `);
  });

  it("keeps sources apart", () => {
    const first = mergePodSet({ state: new Map(), source: "file", pods: [pod({ uid: "a" })], nowMs: 0 });
    const second = mergePodSet({ state: first.state, source: "api", pods: [], nowMs: 0 });
    expect(second.changes).toEqual([]);
    expect([...(second.state.get("file")?.keys() ?? [])]).toEqual(["a"]);
  });

  const shape = fc.record({
    uid: fc.constantFrom("a", "b", "c", "d", "e"),
    image: fc.constantFrom("i", "j"),
    phase: fc.constantFrom("Pending", "Running"),
    deleted: fc.option(fc.constant("2026-01-01T00:00:00Z"), { nil: undefined }),
  });
  const set = fc.uniqueArray(shape, { selector: ({ uid }) => uid });

  it("adds and removes exactly what the sets differ by, and tells each pod once", () => {
    fc.assert(
      fc.property(fc.array(set, { maxLength: 6 }), (sets) => {
        let state: PodConfigState = new Map();
        for (const wanted of sets) {
          const before = new Set(state.get("file")?.keys());
          const merge = mergePodSet({ state, source: "file", pods: wanted.map(pod), nowMs: 0 });
          const uids = (kind: string): string[] =>
            merge.changes
              .filter((change) => change.kind === kind)
              .flatMap((change) => change.pods.map((changed) => changed.metadata?.uid ?? ""));
          const now: string[] = wanted.map(({ uid }) => uid);
          expect(uids("add").sort()).toEqual(now.filter((uid) => !before.has(uid)).sort());
          expect(uids("remove").sort()).toEqual([...before].filter((uid) => !now.includes(uid)).sort());
          const told = merge.changes.flatMap((change) => change.pods.map((changed) => changed.metadata?.uid));
          expect(new Set(told).size).toBe(told.length);
          expect([...(merge.state.get("file")?.keys() ?? [])].sort()).toEqual([...now].sort());
          // The same set again is no news.
          expect(mergePodSet({ state: merge.state, source: "file", pods: wanted.map(pod), nowMs: 9 }).changes).toEqual(
            [],
          );
          state = merge.state;
        }
      }),
    );
  });
});

describe("the holder", () => {
  function holder(sources: readonly string[]) {
    const told: [string, number][] = [];
    const decisions: Decision[] = [];
    const config = new PodConfig({
      sources,
      clock: new VirtualClock(),
      decisions: { record: (decision) => decisions.push(decision) },
      onChanges: (changes, source) => told.push([source, changes.length]),
    });
    return { config, told, decisions };
  }

  it("knows when every source has reported, be it nothing", () => {
    const { config, told } = holder(["file", "api"]);
    config.listenerFor("file")([]);
    expect(config.allSourcesSeen).toBe(false);
    config.listenerFor("api")([]);
    expect(config.allSourcesSeen).toBe(true);
    config.listenerFor("api")([]);
    expect(told).toEqual([
      ["file", 0],
      ["api", 0],
    ]);
  });

  it("has nothing to wait for without sources", () => {
    expect(holder([]).config.allSourcesSeen).toBe(true);
  });

  it("holds the pods of all sources and records what it ignores", () => {
    const { config, decisions } = holder(["file", "api"]);
    config.set({ source: "file", pods: [pod({ uid: "a" })] });
    config.set({ source: "api", pods: [pod({ uid: "b" }), pod({ uid: "c", name: "b" })] });
    expect(config.pods().map((held) => held.metadata?.uid)).toEqual(["a", "b"]);
    expect(decisions.map((decision) => decision.reason)).toEqual(["FailedValidation"]);
  });
});
