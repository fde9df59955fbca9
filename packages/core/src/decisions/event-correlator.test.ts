import { describe, expect, it } from "vitest";
import type { Clock } from "../ports/clock.ts";
import type { NodeEvent } from "../ports/event-sink.ts";
import { EventCorrelator } from "./event-correlator.ts";

const MINUTE = 60_000;

function correlator(): {
  readonly emit: (message: string, more?: Partial<NodeEvent> & { readonly name?: string }) => void;
  readonly told: NodeEvent[];
  readonly pass: (ms: number) => void;
} {
  let nowMs = 1000;
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer: () => ({ cancel: () => undefined }),
  };
  const told: NodeEvent[] = [];
  const subject = new EventCorrelator({ clock, sink: { emit: (event) => void told.push(event) } });
  return {
    told,
    pass: (ms) => {
      nowMs += ms;
    },
    emit: (message, { name = "web", ...more } = {}) =>
      subject.emit({
        type: "Warning",
        reason: "Failed",
        message,
        involved: { kind: "Pod", namespace: "default", name, uid: `uid-${name}` },
        atMs: nowMs,
        ...more,
      }),
  };
}

describe("EventCorrelator", () => {
  it("passes events as they are, equal ones too, so that a store can count them", () => {
    const { emit, told } = correlator();
    for (let index = 0; index < 12; index += 1) emit("the same");
    expect(told.map(({ message }) => message)).toEqual(Array.from({ length: 12 }, () => "the same"));
  });

  it("marks texts as combined from the tenth different one on, until ten quiet minutes have passed", () => {
    const { emit, told, pass } = correlator();
    for (let index = 1; index <= 12; index += 1) emit(`text ${index}`);
    expect(told.map(({ message }) => message).slice(8)).toEqual([
      "text 9",
      "(combined from similar events): text 10",
      "(combined from similar events): text 11",
      "(combined from similar events): text 12",
    ]);
    pass(10 * MINUTE);
    emit("still");
    pass(10 * MINUTE + 1);
    emit("anew");
    expect(told.slice(-2).map(({ message }) => message)).toEqual(["(combined from similar events): still", "anew"]);
  });

  it("combines only what agrees in object, type and reason", () => {
    const { emit, told } = correlator();
    for (let index = 1; index <= 6; index += 1) {
      emit(`text ${index}`);
      emit(`text ${index + 10}`, { reason: "BackOff" });
      emit(`text ${index + 20}`, { type: "Normal" });
      emit(`text ${index + 30}`, { name: "other" });
    }
    expect(told.filter(({ message }) => message.startsWith("(combined"))).toEqual([]);
    // Parts of one object are one object.
    const part = { kind: "Pod" as const, namespace: "default", name: "web", uid: "uid-web" };
    for (let index = 41; index <= 44; index += 1) {
      emit(`text ${index}`, { involved: { ...part, fieldPath: `spec.containers{c${index}}` } });
    }
    expect(told.at(-1)?.message).toBe("(combined from similar events): text 44");
  });

  it("lets 25 events about an object pass at once, then one every five minutes, and never more than 25 at once", () => {
    const { emit, told, pass } = correlator();
    const burst = (count: number): number => {
      const before = told.length;
      for (let index = 0; index < count; index += 1) emit("again");
      return told.length - before;
    };
    expect(burst(100)).toBe(25);
    pass(5 * MINUTE - 1);
    expect(burst(3)).toBe(0);
    pass(1);
    expect(burst(3)).toBe(1);
    pass(60 * MINUTE);
    expect(burst(100)).toBe(12);
    pass(24 * 60 * MINUTE);
    expect(burst(100)).toBe(25);
  });

  it("lets one object's flood delay no other's events", () => {
    const { emit, told } = correlator();
    for (let index = 0; index < 1000; index += 1) emit(`text ${index}`);
    emit("mine", { name: "other" });
    expect(told).toHaveLength(26);
    expect(told.at(-1)?.involved.name).toBe("other");
  });

  it("remembers a bounded number of objects, and forgets the one unheard of for longest", () => {
    const { emit, told } = correlator();
    for (let index = 0; index < 25; index += 1) emit("first");
    for (let index = 0; index < 4095; index += 1) emit("x", { name: `pod-${index}` });
    emit("known still");
    for (let index = 0; index < 4096; index += 1) emit("x", { name: `more-${index}` });
    emit("a new one");
    expect(
      told
        .filter(({ involved }) => involved.name === "web")
        .map(({ message }) => message)
        .slice(25),
    ).toEqual(["a new one"]);
  });
});
