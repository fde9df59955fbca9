import { VirtualClock } from "@nodelet/testkit";
import { expect, it } from "vitest";
import { endedSoonAfter, leftAfter, settledBefore } from "./settle.ts";

const never = new Promise<never>(() => undefined);

it("tells which came first, the end of a promise or a signal", async () => {
  const stop = new AbortController();
  expect(await settledBefore(stop.signal, Promise.resolve())).toBe(true);
  expect(await settledBefore(stop.signal, Promise.reject(new Error("no")))).toBe(true);
  const waiting = settledBefore(stop.signal, never);
  stop.abort();
  expect(await waiting).toBe(false);
  expect(await settledBefore(stop.signal, Promise.resolve())).toBe(false);
});

it("leaves behind what does not end, some time after the signal", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  let isOver = false;
  const waiting = endedSoonAfter(stop.signal, { promise: never, clock, afterMs: 5000 }).then(() => {
    isOver = true;
  });
  await clock.advance(60_000);
  stop.abort();
  await clock.advance(4999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await waiting;
  expect(isOver).toBe(true);
});

it("ends as the promise does, before the signal and after, and leaves no timer", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const options = { clock, afterMs: 5000 };
  const fails = Promise.reject(new Error("no"));
  await expect(endedSoonAfter(stop.signal, { ...options, promise: fails })).rejects.toThrow("no");
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = endedSoonAfter(stop.signal, { ...options, promise });
  stop.abort();
  await clock.settle();
  resolve();
  await waiting;
  expect(clock.pendingTimers).toBe(0);
});

it("is told to stop waiting by an earlier signal, after a time, or never", async () => {
  const clock = new VirtualClock();
  const news = new AbortController();
  const signals: AbortSignal[] = [];
  const work = (signal: AbortSignal): Promise<void> => {
    signals.push(signal);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const timed = leftAfter({ clock, earlier: news.signal, afterMs: 5000 }, work);
  const early = leftAfter({ clock, earlier: news.signal, afterMs: 60_000 }, work);
  const endless = leftAfter({ clock, earlier: news.signal, afterMs: Number.POSITIVE_INFINITY }, work);
  await clock.advance(5000);
  await timed;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false, false]);
  news.abort();
  await Promise.all([early, endless]);
  expect(clock.pendingTimers).toBe(0);
});
