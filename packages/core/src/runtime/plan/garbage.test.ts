import { describe, expect, it } from "vitest";
import { exited, instance, NOW_MS, sandbox } from "../observed-pod.test-support.ts";
import type { ObservedContainer, ObservedPod, ObservedSandbox } from "../observed-pod.ts";
import { type Garbage, type GarbageLimits, selectDeadContainers, selectGarbage } from "./garbage.ts";

const LIMITS: GarbageLimits = { maxPerPodContainer: 1, maxContainers: -1, minimumAgeMs: 0 };

function pod(
  uid: string,
  containers: readonly ObservedContainer[],
  sandboxes: readonly ObservedSandbox[] = [],
): ObservedPod {
  const newestFirst = [...containers].sort((left, right) => (left.createdAtNs < right.createdAtNs ? 1 : -1));
  return { uid, name: uid, namespace: "default", sandboxes, containers: newestFirst, lookedAtMs: 0 };
}

/** Dead instances of `name`, one a given age in milliseconds; ids `name-0`, `name-1` in the order given. */
function dead(name: string, ...ages: number[]): ObservedContainer[] {
  return ages.map((ageMs, restartCount) => exited(name, 1, { ageMs, restartCount }));
}

function select(
  pods: readonly ObservedPod[],
  more: { removable?: string[]; live?: string[]; limits?: Partial<GarbageLimits> } = {},
): Garbage {
  const live = more.live ?? pods.map(({ uid }) => uid);
  return selectGarbage({
    pods,
    live: (uid) => live.includes(uid),
    removable: (uid) => more.removable?.includes(uid) ?? false,
    config: { ...LIMITS, ...more.limits },
    nowMs: NOW_MS,
  });
}

describe("selectGarbage", () => {
  it("keeps the newest dead instances of each container of a live pod", () => {
    const pods = [pod("p", [...dead("a", 30_000, 20_000, 10_000), ...dead("b", 5000)])];
    expect(select(pods).containerIds).toEqual(["a-0", "a-1"]);
    expect(select(pods, { limits: { maxPerPodContainer: 2 } }).containerIds).toEqual(["a-0"]);
    expect(select(pods, { limits: { maxPerPodContainer: 0 } }).containerIds).toEqual(["a-0", "a-1", "a-2", "b-0"]);
    expect(select(pods, { limits: { maxPerPodContainer: -1 } }).containerIds).toEqual([]);
  });

  it("leaves what is younger than the minimum age", () => {
    const pods = [pod("p", dead("a", 30_000, 20_000, 10_000))];
    expect(select(pods, { limits: { minimumAgeMs: 25_000, maxPerPodContainer: 0 } }).containerIds).toEqual(["a-0"]);
  });

  it("takes nothing that runs, and no newest container that is about to start", () => {
    const pods = [pod("p", [instance("a", { ageMs: 1 }), instance("b", { state: "created", ageMs: 1 })])];
    expect(select(pods, { limits: { maxPerPodContainer: 0 } }).containerIds).toEqual([]);
  });

  it("takes everything that does not run of a pod whose content may go", () => {
    const pods = [pod("p", [instance("a", { state: "created", ageMs: 10 }), ...dead("b", 20_000), instance("c")])];
    expect(select(pods, { removable: ["p"] }).containerIds).toEqual(["b-0", "a-0"]);
  });

  it("leaves pods alone that are neither live nor removable", () => {
    const pods = [
      pod("p", dead("a", 30_000, 20_000), [sandbox("s1", { ready: false }), sandbox("s0", { ready: false })]),
    ];
    expect(select(pods, { live: [] })).toEqual({ containerIds: [], sandboxIds: [] });
  });

  it("shares the node's limit evenly, then takes the oldest of all", () => {
    const pods = [
      pod("p", dead("a", 60_000, 50_000, 40_000)),
      pod("q", dead("b", 30_000)),
      pod("r", dead("c", 20_000)),
    ];
    const keepAll = { maxPerPodContainer: -1 };
    expect(select(pods, { limits: { ...keepAll, maxContainers: 5 } }).containerIds).toEqual([]);
    expect(select(pods, { limits: { ...keepAll, maxContainers: 4 } }).containerIds).toEqual(["a-0", "a-1"]);
    expect(select(pods, { limits: { ...keepAll, maxContainers: 2 } }).containerIds).toEqual(["a-0", "a-1", "a-2"]);
  });

  it("removes sandboxes that are not ready and empty, but the newest of a live pod", () => {
    const sandboxes = [
      sandbox("s3", { attempt: 3, ready: false }),
      sandbox("s2", { attempt: 2, ready: false }),
      sandbox("s1", { attempt: 1, ready: true }),
      sandbox("s0", { ready: false }),
    ];
    const kept = exited("a", 1, { sandboxId: "s0" });
    expect(select([pod("p", [kept], sandboxes)]).sandboxIds).toEqual(["s2"]);
    expect(select([pod("p", [kept], sandboxes)], { removable: ["p"] }).sandboxIds).toEqual(["s3", "s2", "s0"]);
    expect(
      select([pod("p", [instance("a", { sandboxId: "s0" })], sandboxes)], { removable: ["p"] }).sandboxIds,
    ).toEqual(["s3", "s2"]);
  });
});

describe("selectDeadContainers", () => {
  it("takes exited instances beyond the newest few of each name, oldest first", () => {
    const observed = pod("p", [
      ...dead("a", 30_000, 20_000, 10_000),
      instance("a", { ageMs: 1, restartCount: 9 }),
      ...dead("b", 5000),
    ]);
    const options = { observed, minimumAgeMs: 0, nowMs: NOW_MS };
    expect(selectDeadContainers({ ...options, keepPerContainer: 1 })).toEqual(["a-0", "a-1"]);
    expect(selectDeadContainers({ ...options, keepPerContainer: 0 })).toEqual(["b-0", "a-0", "a-1", "a-2"]);
    expect(selectDeadContainers({ ...options, keepPerContainer: 1, minimumAgeMs: 25_000 })).toEqual(["a-0"]);
  });
});
