import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/index.ts";
import type { PodChange, PodChangeKind } from "../pods/index.ts";
import { PendingChanges } from "./pending-changes.ts";

function pod(uid: string, generation = 0): Pod {
  return { metadata: { uid, generation }, spec: { containers: [] } };
}

function change(kind: PodChangeKind, uid: string, generation = 0): PodChange {
  return { kind, source: "file", pods: [pod(uid, generation)] };
}

function drained(...changes: readonly PodChange[]): readonly (readonly [string, string, unknown])[] {
  const pending = new PendingChanges();
  for (const one of changes) pending.push(one);
  return pending
    .drain()
    .flatMap(({ kind, pods }) =>
      pods.map(({ metadata }) => [kind, metadata?.uid ?? "", metadata?.generation] as const),
    );
}

describe("changes that wait", () => {
  it.each<readonly [string, readonly PodChange[], readonly (readonly [string, string, number])[]]>([
    ["one", [change("update", "a", 1)], [["update", "a", 1]]],
    ["an update of a new pod", [change("add", "a", 1), change("update", "a", 2)], [["add", "a", 2]]],
    ["a deletion of a new pod", [change("add", "a", 1), change("delete", "a", 2)], [["add", "a", 2]]],
    ["two updates", [change("update", "a", 1), change("update", "a", 2)], [["update", "a", 2]]],
    ["a deletion after an update", [change("update", "a", 1), change("delete", "a", 2)], [["delete", "a", 2]]],
    ["a status after an update", [change("update", "a", 1), change("reconcile", "a", 2)], [["update", "a", 2]]],
    ["an update after a status", [change("reconcile", "a", 1), change("update", "a", 2)], [["update", "a", 2]]],
    ["a pod that came and went", [change("add", "a", 1), change("remove", "a", 1)], []],
    ["a pod that changed and went", [change("update", "a", 1), change("remove", "a", 1)], [["remove", "a", 1]]],
    [
      "a pod that went and came back",
      [change("remove", "a", 1), change("add", "a", 2), change("update", "a", 3)],
      [
        ["remove", "a", 1],
        ["add", "a", 3],
      ],
    ],
    [
      "a pod that went, came back and went again",
      [change("remove", "a", 1), change("add", "a", 2), change("remove", "a", 2)],
      [["remove", "a", 1]],
    ],
    [
      "what goes before what comes",
      [change("add", "a", 1), change("reconcile", "c", 1), change("remove", "b", 1)],
      [
        ["remove", "b", 1],
        ["add", "a", 1],
        ["reconcile", "c", 1],
      ],
    ],
  ])("%s", (_, changes, expected) => {
    expect(drained(...changes)).toEqual(expected);
  });

  it("of two sources about one UID stay apart", () => {
    const added: PodChange = { ...change("add", "a", 1), source: "http" };
    expect(drained(added, change("remove", "a", 2))).toEqual([
      ["remove", "a", 2],
      ["add", "a", 1],
    ]);
  });

  it("lead to the same pods as handing each on at once, and are never more than there are pods", () => {
    const wish = fc.array(fc.record({ uid: fc.constantFrom("a", "b", "c"), there: fc.boolean() }), { maxLength: 40 });
    fc.assert(
      fc.property(wish, fc.subarray(["a", "b", "c"]), (wishes, known) => {
        const pending = new PendingChanges();
        const wanted = new Map<string, number>(known.map((uid) => [uid, 0]));
        for (const [index, { uid, there }] of wishes.entries()) {
          const generation = index + 1;
          if (there) {
            pending.push(change(wanted.has(uid) ? "update" : "add", uid, generation));
            wanted.set(uid, generation);
          } else if (wanted.delete(uid)) pending.push(change("remove", uid, generation));
          expect(pending.size).toBeLessThanOrEqual(3);
        }
        const told = new Map<string, number>(known.map((uid) => [uid, 0]));
        for (const { kind, pods } of pending.drain()) {
          for (const { metadata } of pods) {
            const uid = metadata?.uid ?? "";
            // A removal is of a known pod, an addition of an unknown one: never both sides of a coin.
            expect(told.has(uid)).toBe(kind !== "add");
            if (kind === "remove") told.delete(uid);
            else told.set(uid, Number(metadata?.generation));
          }
        }
        expect(told).toEqual(wanted);
        expect(pending.size).toBe(0);
      }),
    );
  });
});
