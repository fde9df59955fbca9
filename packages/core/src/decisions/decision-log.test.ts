import { MemoryLogger, RecordingEventSink, VirtualClock } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { Decision } from "./decision.ts";
import { DecisionLog } from "./decision-log.ts";

const pod = { uid: "u1", name: "web", namespace: "default" };

function fixture() {
  const clock = new VirtualClock();
  const logger = new MemoryLogger({ verbosity: 2 });
  const events = new RecordingEventSink();
  return { clock, logger, events, log: new DecisionLog({ clock, logger, events }) };
}

const backOff: Decision = {
  action: "backOff",
  pod,
  container: "c",
  reason: "CrashLoopBackOff",
  message: "back-off 10s restarting failed container=c",
  outcome: "waiting",
  event: { type: "Warning", reason: "BackOff", message: "Back-off restarting failed container c" },
};

describe("the decision record", () => {
  it("counts the same decision instead of keeping it again, and tells its event each time", () => {
    const { log, events } = fixture();
    for (let times = 0; times < 3; times += 1) log.record(backOff);
    expect(log.list({ podUid: "u1" })).toMatchObject([{ reason: "CrashLoopBackOff", count: 3 }]);
    expect(events.events).toHaveLength(3);
    expect(events.events[0]).toMatchObject({
      reason: "BackOff",
      involved: { kind: "Pod", name: "web", fieldPath: "spec.containers{c}" },
    });
  });

  it("tells aloud again what was over in between", () => {
    const { log, logger } = fixture();
    const gone: Decision = { action: "ignore", reason: "FailedManifest", message: "no such path", outcome: "failed" };
    for (const isNews of [true, false, true]) log.record({ ...gone, isNews });
    expect(log.list()).toMatchObject([
      { ...gone, count: 2 },
      { ...gone, count: 1 },
    ]);
    expect(log.list().some((record) => "isNews" in record)).toBe(false);
    expect(logger.records.map(({ message }) => message)).toEqual(["no such path", "no such path"]);
  });

  it("counts decisions that come in turn, too", () => {
    const { log } = fixture();
    for (let turn = 0; turn < 5; turn += 1) {
      log.record({ ...backOff, container: "a" });
      log.record({ ...backOff, container: "b" });
    }
    log.record({ ...backOff, container: "c" });
    expect(log.list({ podUid: "u1" }).map(({ container, count, seq }) => [container, count, seq])).toEqual([
      ["a", 5, 9],
      ["b", 5, 10],
      ["c", 1, 11],
    ]);
  });

  it("keeps the last 100 of a pod and the newest 1000 pods", () => {
    const { log } = fixture();
    for (let at = 0; at < 150; at += 1) log.record({ ...backOff, message: `number ${at}` });
    const kept = log.list({ podUid: "u1" });
    expect(kept).toHaveLength(100);
    expect(kept[0]?.message).toBe("number 50");
    for (let at = 0; at < 1000; at += 1) log.record({ ...backOff, pod: { ...pod, uid: `other-${at}` } });
    expect(log.list({ podUid: "u1" })).toEqual([]);
  });

  it("keeps 10,000 of all pods together, those of the pods that were heard of last", () => {
    const { log } = fixture();
    const loop = (uid: string): void => {
      for (let at = 0; at < 100; at += 1) log.record({ ...backOff, pod: { ...pod, uid }, message: `number ${at}` });
    };
    for (let at = 0; at < 150; at += 1) loop(`u${at}`);
    expect(log.list()).toHaveLength(10_000);
    expect(log.list({ podUid: "u49" })).toEqual([]);
    expect(log.list({ podUid: "u50" })).toHaveLength(100);
  });

  it("goes on when whoever hears of a decision throws", () => {
    const { log, events, logger } = fixture();
    const heard: number[] = [];
    log.subscribe(() => {
      throw new Error("not my day");
    });
    log.subscribe(({ seq }) => heard.push(seq));
    events.emit = () => {
      throw new Error("no events today");
    };
    log.record(backOff);
    expect(heard).toEqual([1]);
    expect(logger.records.filter(({ level }) => level === "error")).toHaveLength(2);
  });

  it("cuts long messages to what an event takes", () => {
    const { log, events } = fixture();
    const long = "x".repeat(5000);
    log.record({ ...backOff, message: long, event: { type: "Warning", reason: "BackOff", message: long } });
    expect(log.latest("u1")?.message).toHaveLength(1024);
    expect(events.events[0]?.message).toHaveLength(1024);
  });

  it("names the field of init and ephemeral containers", () => {
    const { log, events } = fixture();
    log.record({ ...backOff, containerField: "initContainers" });
    expect(events.events[0]?.involved.fieldPath).toBe("spec.initContainers{c}");
  });

  it("logs failures and rejections as warnings, repeats only for those who look closely", () => {
    const { log, logger } = fixture();
    log.record({ ...backOff, outcome: "failed" });
    log.record({ ...backOff, outcome: "failed" });
    expect(logger.records.map(({ level }) => level)).toEqual(["warn"]);
  });
});
