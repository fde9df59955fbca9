import { VirtualClock } from "@nodelet/testkit";
import { describe, expect, test } from "vitest";
import { NodeletError } from "../errors/index.ts";
import type { ImageService } from "../ports/image-service.ts";
import { ImagePulls, type PullConfig, type PullRequest } from "./image-pulls.ts";
import { TokenBucket } from "./token-bucket.ts";

const SERIAL: PullConfig = {
  serializeImagePulls: true,
  maxParallelImagePulls: undefined,
  registryPullQps: 0,
  registryBurst: 0,
};

/** An image store whose pulls take 10 s each and tell when they begin and whether they were called off. */
function setUp(config: Partial<PullConfig> = {}) {
  const clock = new VirtualClock();
  const journal: string[] = [];
  const failures = new Map<string, NodeletError>();
  const images: ImageService = {
    imageStatus: async () => undefined,
    pullImage: ({ image: { image }, signal, onProgress }) => {
      journal.push(`begin ${image} at ${clock.monotonicMs() / 1000}`);
      onProgress?.(0);
      return new Promise((resolve, reject) => {
        const timer = clock.setTimer(10_000, () => {
          const failure = failures.get(image);
          if (failure === undefined) resolve(`id of ${image}`);
          else reject(failure);
        });
        signal?.addEventListener("abort", () => {
          timer.cancel();
          journal.push(`cancel ${image} at ${clock.monotonicMs() / 1000}`);
          reject(new NodeletError("cancelled", "called off"));
        });
      });
    },
  };
  const pulls = new ImagePulls({ images, clock, config: { ...SERIAL, ...config } });
  const results: string[] = [];
  const pull = (image: string, options: Partial<PullRequest> = {}): void => {
    const request = { image: { image }, sandboxConfig: SANDBOX, fresh: false, signal: undefined };
    const heard = {
      onProgress: () => undefined,
      onQueued: (waits: readonly string[]) => results.push(`${image} waits for ${waits.join()}`),
    };
    pulls.pull({ ...request, ...heard, ...options }).then(
      ({ imageRef, pullMs }) => results.push(`${imageRef} after ${pullMs / 1000} at ${clock.monotonicMs() / 1000}`),
      (error: unknown) =>
        results.push(
          `${image}: ${NodeletError.from(error).kind} ${NodeletError.from(error).message} at ${clock.monotonicMs() / 1000}`,
        ),
    );
  };
  return { clock, journal, failures, results, pull };
}

const SANDBOX = { metadata: { name: "p", uid: "u", namespace: "ns", attempt: 0 } };

describe("order", () => {
  test("one at a time, in the order in which they were asked for", async () => {
    const { clock, journal, results, pull } = setUp();
    for (const image of ["a", "b", "c"]) pull(image);
    await clock.advance(30_000);
    expect(journal).toEqual(["begin a at 0", "begin b at 10", "begin c at 20"]);
    expect(results).toEqual([
      "b waits for a",
      "c waits for a",
      "id of a after 10 at 10",
      "id of b after 10 at 20",
      "id of c after 10 at 30",
    ]);
  });

  test("nobody gets ahead of the queue", async () => {
    const { clock, journal, pull } = setUp();
    pull("a");
    pull("b");
    clock.setTimer(10_000, () => pull("c"));
    await clock.advance(30_000);
    expect(journal).toEqual(["begin a at 0", "begin b at 10", "begin c at 20"]);
  });

  test.each([
    [2, ["begin a at 0", "begin b at 0", "begin c at 10"]],
    [undefined, ["begin a at 0", "begin b at 0", "begin c at 0"]],
  ])("in parallel, at most %s", async (maxParallelImagePulls, expected) => {
    const { clock, journal, pull } = setUp({ serializeImagePulls: false, maxParallelImagePulls });
    for (const image of ["a", "b", "c"]) pull(image);
    await clock.advance(20_000);
    expect(journal).toEqual(expected);
  });

  test("a failed pull makes room as well", async () => {
    const { clock, journal, failures, results, pull } = setUp();
    failures.set("a", new NodeletError("internal", "no"));
    pull("a");
    pull("b");
    await clock.advance(20_000);
    expect(journal).toEqual(["begin a at 0", "begin b at 10"]);
    expect(results).toContain("a: internal no at 10");
  });
});

describe("the same image at once", () => {
  test("is pulled once for all", async () => {
    const { clock, journal, results, pull } = setUp();
    pull("a");
    await clock.advance(4000);
    pull("a");
    await clock.advance(6000);
    expect(journal).toEqual(["begin a at 0"]);
    expect(results).toEqual(["id of a after 10 at 10", "id of a after 10 at 10"]);
  });

  test("fails for all", async () => {
    const { clock, failures, results, pull } = setUp();
    failures.set("a", new NodeletError("unavailable", "no"));
    pull("a");
    pull("a");
    await clock.advance(10_000);
    expect(results).toEqual(["a: unavailable no at 10", "a: unavailable no at 10"]);
  });

  test("wanted fresh, is pulled again when the pull has begun, and shared when it has not", async () => {
    const { clock, journal, pull } = setUp();
    pull("a");
    pull("a", { fresh: true });
    pull("a", { fresh: true });
    await clock.advance(40_000);
    expect(journal).toEqual(["begin a at 0", "begin a at 10"]);
  });

  test("for another runtime is another pull", async () => {
    const { clock, journal, pull } = setUp({ serializeImagePulls: false });
    pull("a");
    pull("a", { image: { image: "a", runtimeHandler: "kata" } });
    await clock.advance(10_000);
    expect(journal).toEqual(["begin a at 0", "begin a at 0"]);
  });

  test("tells its progress to each that waits", async () => {
    const { pull, clock } = setUp();
    const heard: number[] = [];
    pull("x");
    pull("a", { onProgress: () => heard.push(1) });
    pull("a", { onProgress: () => heard.push(2) });
    await clock.advance(10_000);
    expect(heard).toEqual([1, 2]);
  });
});

describe("called off", () => {
  test("goes on while another pod wants it", async () => {
    const { clock, journal, results, pull } = setUp();
    const gone = new AbortController();
    pull("a", { signal: gone.signal });
    pull("a");
    await clock.advance(3000);
    gone.abort();
    await clock.settle();
    expect(results).toEqual(["a: cancelled pulling image a was cancelled at 3"]);
    await clock.advance(7000);
    expect(journal).toEqual(["begin a at 0"]);
    expect(results[1]).toBe("id of a after 10 at 10");
  });

  test("ends when no pod wants it any more, and the next begins", async () => {
    const { clock, journal, pull } = setUp();
    const gone = new AbortController();
    pull("a", { signal: gone.signal });
    pull("b");
    await clock.advance(3000);
    gone.abort();
    await clock.advance(10_000);
    expect(journal.slice(0, 3)).toEqual(["begin a at 0", "cancel a at 3", "begin b at 3"]);
  });

  test("while it waits, never begins", async () => {
    const { clock, journal, pull } = setUp();
    const gone = new AbortController();
    pull("a");
    pull("b", { signal: gone.signal });
    pull("c");
    await clock.advance(3000);
    gone.abort();
    await clock.advance(17_000);
    expect(journal.filter((line) => line.startsWith("begin"))).toEqual(["begin a at 0", "begin c at 10"]);
  });

  test("before it is asked for, does nothing", async () => {
    const { clock, journal, results, pull } = setUp();
    pull("a", { signal: AbortSignal.abort() });
    await clock.settle();
    expect(journal).toEqual([]);
    expect(results).toEqual(["a: cancelled pulling image a was cancelled at 0"]);
  });

  test("and wanted again, begins anew", async () => {
    const { clock, journal, results, pull } = setUp();
    const gone = new AbortController();
    pull("a", { signal: gone.signal });
    await clock.advance(3000);
    gone.abort();
    await clock.settle();
    pull("a");
    await clock.advance(10_000);
    expect(journal.slice(0, 3)).toEqual(["begin a at 0", "cancel a at 3", "begin a at 3"]);
    expect(results.at(-1)).toBe("id of a after 10 at 13");
  });
});

describe("rate", () => {
  test("pulls beyond the burst fail until tokens come back", async () => {
    const { clock, results, pull } = setUp({ serializeImagePulls: false, registryPullQps: 5, registryBurst: 2 });
    for (const image of ["a", "b", "c"]) pull(image);
    await clock.settle();
    expect(results).toEqual(["c: resourceExhausted pull QPS exceeded at 0"]);
    await clock.advance(200);
    pull("d");
    await clock.advance(10_000);
    expect(results).toContain("id of d after 10 at 10.2");
  });

  test("tokens fill up to the burst and no further", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ clock, perSecond: 5, burst: 2 });
    const take = (count: number) => Array.from({ length: count }, () => bucket.tryTake());
    expect(take(3)).toEqual([true, true, false]);
    await clock.advance(199);
    expect(take(1)).toEqual([false]);
    await clock.advance(1);
    expect(take(2)).toEqual([true, false]);
    await clock.advance(3_600_000);
    expect(take(3)).toEqual([true, true, false]);
  });

  test("a rate of 0 is no limit", () => {
    const bucket = new TokenBucket({ clock: new VirtualClock(), perSecond: 0, burst: 0 });
    expect(Array.from({ length: 100 }, () => bucket.tryTake())).not.toContain(false);
  });
});

test("a pull that is given up frees its place, even if the image service does not heed that", async () => {
  const clock = new VirtualClock();
  const images: ImageService = {
    imageStatus: async () => undefined,
    pullImage: ({ image: { image } }) =>
      image === "stuck" ? new Promise(() => undefined) : Promise.resolve(`id of ${image}`),
  };
  const pulls = new ImagePulls({ images, clock, config: SERIAL });
  const given = { sandboxConfig: SANDBOX, fresh: false, onProgress: () => undefined, onQueued: () => undefined };
  const nobody = new AbortController();
  const stuck = pulls.pull({ ...given, image: { image: "stuck" }, signal: nobody.signal });
  const next = pulls.pull({ ...given, image: { image: "a" }, signal: undefined });
  nobody.abort();
  await expect(stuck).rejects.toMatchObject({ kind: "cancelled" });
  await expect(next).resolves.toMatchObject({ imageRef: "id of a" });
});
