import { VirtualClock } from "@nodelet/testkit";
import { expect, it } from "vitest";
import { OngoingPulls, PULL_GOES_ON } from "./ongoing-pulls.ts";

const FOR = { podUid: "u1", containerName: "c", what: "image:1" };

function fixture() {
  const clock = new VirtualClock();
  const ended: string[] = [];
  const pulls = new OngoingPulls<string>({ clock, onEnd: (podUid) => ended.push(podUid) });
  const pulled = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const begin = (signal?: AbortSignal) =>
    pulls.begin({ ...FOR, signal }, (own) => {
      signals.push(own);
      own.addEventListener("abort", () => pulled.reject(new Error("given up")));
      return pulled.promise;
    });
  return { clock, ended, pulls, pulled, signals, begin };
}

it("is found again by who left, and tells its end when nobody waits", async () => {
  const { pulls, pulled, ended, begin } = fixture();
  const leave = new AbortController();
  const ongoing = begin();
  const left = pulls.wait(FOR, { ongoing, leave: leave.signal });
  leave.abort();
  await expect(left).rejects.toMatchObject({ kind: "cancelled", reason: PULL_GOES_ON });
  expect(pulls.find(FOR)).toBe(ongoing);
  pulled.resolve("sha256:1");
  await pulled.promise;
  expect(ended).toEqual(["u1"]);
  await expect(pulls.wait(FOR, { ongoing })).resolves.toBe("sha256:1");
  expect(pulls.size).toBe(0);
});

it("tells nobody of its end while somebody waits, be it a failure", async () => {
  const { pulls, pulled, ended, begin } = fixture();
  const waiting = pulls.wait(FOR, { ongoing: begin() });
  pulled.reject(new Error("no such manifest"));
  await expect(waiting).rejects.toThrow("no such manifest");
  expect(ended).toEqual([]);
  expect(pulls.size).toBe(0);
});

it("is given up when its container wants something else, and when its pod is gone", () => {
  const { pulls, signals, begin } = fixture();
  begin().outcome.catch(() => undefined);
  expect(pulls.find({ ...FOR, what: "image:2" })).toBeUndefined();
  expect(signals[0]?.aborted).toBe(true);
  begin();
  pulls.forget("u");
  expect(signals[1]?.aborted).toBe(false);
  pulls.forget("u1");
  expect(signals[1]?.aborted).toBe(true);
  expect(pulls.size).toBe(0);
});

it("ends with the signal of whom it was begun for, and is then not there to be fetched", async () => {
  const { pulls, ended, begin } = fixture();
  const life = new AbortController();
  const { outcome } = begin(life.signal);
  life.abort();
  await expect(outcome).rejects.toThrow("given up");
  expect(pulls.size).toBe(0);
  expect(ended).toEqual([]);
});

it("has an outcome that counts for a minute", async () => {
  const { clock, pulls, pulled, begin } = fixture();
  begin();
  pulled.resolve("sha256:1");
  await clock.advance(60_000);
  expect(pulls.find(FOR)).toBeDefined();
  await clock.advance(1);
  expect(pulls.find(FOR)).toBeUndefined();
  expect(pulls.size).toBe(0);
});
