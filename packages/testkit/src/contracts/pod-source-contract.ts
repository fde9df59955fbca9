import type { Pod, PodSource } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, type ContractTest, describeContract } from "./contract.ts";

/** One source with nothing in it, and the world that it reads. */
export interface RunningWorld {
  readonly source: PodSource;
  /** Makes these the pods that the source shall deliver, by name; each is a pod of one container. */
  readonly setPods: (names: readonly string[]) => Promise<void>;
  /** Names, as given to `setPods`, of the pods of a delivered set. */
  readonly namesOf: (pods: readonly Pod[]) => readonly string[];
  /** Takes the world down. */
  readonly close?: () => Promise<void>;
}

/** Makes pod sources. */
export interface PodSourceFixture extends ContractFixture {
  readonly makeWorld: () => Promise<RunningWorld>;
  /** Looks again and again, letting time pass between, until the condition holds; rejects after about 30 s. */
  readonly waitFor: (condition: () => Promise<boolean>) => Promise<void>;
}

/** What every PodSource must do. */
export function describePodSourceContract(options: ContractOptions<PodSourceFixture>): void {
  describeContract("PodSource contract", options, (test) => {
    definePodSourceTests(test);
  });
}

interface Delivery {
  readonly sets: (readonly string[])[];
  readonly pods: (readonly Pod[])[];
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

function run(world: RunningWorld): Delivery {
  const abort = new AbortController();
  const sets: (readonly string[])[] = [];
  const pods: (readonly Pod[])[] = [];
  const onPods = (set: readonly Pod[]) => {
    sets.push([...world.namesOf(set)].sort());
    pods.push(set);
  };
  return {
    sets,
    pods,
    abort,
    ended: world.source.run({ onPods, decisions: { record: () => {} }, signal: abort.signal }),
  };
}

function definePodSourceTests(test: ContractTest<PodSourceFixture>): void {
  const withWorld = (body: (world: RunningWorld, delivery: Delivery, fixture: PodSourceFixture) => Promise<void>) => {
    return async (fixture: PodSourceFixture) => {
      const world = await fixture.makeWorld();
      const delivery = run(world);
      try {
        await body(world, delivery, fixture);
      } finally {
        delivery.abort.abort();
        await delivery.ended;
        await world.close?.();
      }
    };
  };
  const reaches = (delivery: Delivery, names: readonly string[]) => async () =>
    JSON.stringify(delivery.sets.at(-1)) === JSON.stringify(names);

  test(
    "an empty source says so: its first set marks it as ready",
    withWorld(async (_world, delivery, { waitFor }) => {
      await waitFor(async () => delivery.sets.length > 0);
      expect(delivery.sets[0]).toEqual([]);
    }),
  );

  test(
    "each set replaces the one before: pods come, stay and go",
    withWorld(async (world, delivery, { waitFor }) => {
      await world.setPods(["a", "b"]);
      await waitFor(reaches(delivery, ["a", "b"]));
      await world.setPods(["b", "c"]);
      await waitFor(reaches(delivery, ["b", "c"]));
      await world.setPods([]);
      await waitFor(reaches(delivery, []));
    }),
  );

  test(
    "pods have what a node needs: name, namespace, UID and containers",
    withWorld(async (world, delivery, { waitFor }) => {
      await world.setPods(["a"]);
      await waitFor(reaches(delivery, ["a"]));
      const [pod] = delivery.pods.at(-1) ?? [];
      expect(pod?.metadata).toMatchObject({
        name: expect.any(String),
        namespace: expect.any(String),
        uid: expect.any(String),
      });
      expect(pod?.spec?.containers).toHaveLength(1);
    }),
  );

  test(
    "a pod that stays keeps its UID",
    withWorld(async (world, delivery, { waitFor }) => {
      await world.setPods(["a"]);
      await waitFor(reaches(delivery, ["a"]));
      const before = delivery.pods.at(-1)?.[0]?.metadata?.uid;
      await world.setPods(["a", "b"]);
      await waitFor(reaches(delivery, ["a", "b"]));
      const after = delivery.pods.at(-1)?.map((pod) => pod.metadata?.uid);
      expect(after).toContain(before);
      expect(new Set(after).size).toBe(2);
    }),
  );

  test("a run ends when its signal fires, and delivers nothing afterwards", async (fixture) => {
    const world = await fixture.makeWorld();
    const delivery = run(world);
    await fixture.waitFor(async () => delivery.sets.length > 0);
    delivery.abort.abort();
    await delivery.ended;
    const count = delivery.sets.length;
    await world.setPods(["late"]);
    let looks = 0;
    await fixture.waitFor(async () => (looks += 1) > 5);
    expect(delivery.sets).toHaveLength(count);
    await world.close?.();
  });
}
