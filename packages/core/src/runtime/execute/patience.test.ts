import { VirtualClock } from "@nodelet/testkit";
import { expect, it } from "vitest";
import { Patience } from "./patience.ts";

function fixture() {
  const clock = new VirtualClock();
  const news = new AbortController();
  return { clock, news, patience: new Patience({ clock, asked: news.signal }) };
}

it("is over when it was asked for and only waits are left", async () => {
  const { clock, news, patience } = fixture();
  patience.begin();
  patience.begin();
  const back = patience.wait();
  news.abort();
  await clock.advance(1000);
  expect(patience.over.aborted).toBe(false);
  patience.end();
  await clock.advance(1);
  expect(patience.over.aborted).toBe(true);
  back();
  patience.end();
  patience.close();
  expect(clock.pendingTimers).toBe(0);
});

it("lasts when the end of one step lets another begin, and without being asked", async () => {
  const { clock, news, patience } = fixture();
  patience.begin();
  patience.wait();
  await clock.advance(1000);
  expect(patience.over.aborted).toBe(false);
  patience.begin();
  news.abort();
  patience.end();
  patience.begin();
  await clock.advance(1000);
  expect(patience.over.aborted).toBe(false);
  patience.close();
});

it("leaves no timer when the plan ends first", () => {
  const { clock, news, patience } = fixture();
  news.abort();
  patience.begin();
  patience.end();
  patience.close();
  expect(clock.pendingTimers).toBe(0);
});
