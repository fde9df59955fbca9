import { NodeletError, type Pod } from "@nodelet/core";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { RecordingEventSink } from "./recording-event-sink.ts";
import { RecordingStatusSink } from "./recording-status-sink.ts";

const pod: Pod = { metadata: { name: "web", namespace: "default", uid: "u1" } };

describe("RecordingStatusSink", () => {
  it("keeps what it accepted, per pod and in order", async () => {
    const clock = new VirtualClock();
    const sink = new RecordingStatusSink({ clock });
    for (const phase of ["Pending", "Pending", "Running"]) {
      expect(await sink.writeStatus({ pod, status: { phase } })).toEqual({ kind: "accepted" });
      await clock.advance(1_000);
    }
    await sink.writeStatus({ pod: { metadata: { ...pod.metadata, uid: "u2" } }, status: { phase: "Failed" } });
    expect(sink.last("u1")).toEqual({ phase: "Running" });
    expect(sink.phases("u1")).toEqual(["Pending", "Running"]);
    expect(sink.history("u2")).toEqual([{ phase: "Failed" }]);
    expect(sink.written.map(({ uid, atMs }) => [uid, atMs - (sink.written[0]?.atMs ?? 0)])).toEqual([
      ["u1", 0],
      ["u1", 1_000],
      ["u1", 2_000],
      ["u2", 3_000],
    ]);
  });

  it("answers as it is programmed and keeps nothing that was not accepted", async () => {
    const sink = new RecordingStatusSink();
    const end = sink.respond(({ call }) =>
      call === "writeStatus" ? { kind: "conflict" } : new NodeletError("unavailable", "down"),
    );
    expect(await sink.writeStatus({ pod, status: { phase: "Running" } })).toEqual({ kind: "conflict" });
    await expect(sink.podFinished({ pod })).rejects.toMatchObject({ kind: "unavailable" });
    expect([sink.written, [...sink.finished]]).toEqual([[], []]);
    end();
    await sink.podFinished({ pod });
    expect([...sink.finished]).toEqual(["u1"]);
  });
});

describe("RecordingEventSink", () => {
  it("keeps events in order, and the last ones when there are many", () => {
    const sink = new RecordingEventSink({ limit: 2 });
    for (const reason of ["a", "b", "c", "d", "e"]) {
      const involved = { kind: "Pod" as const, namespace: "default", name: "web", uid: reason === "b" ? "u2" : "u1" };
      sink.emit({ type: "Normal", reason, message: "", involved, atMs: 0 });
    }
    expect(sink.reasons()).toEqual(["d", "e"]);
    expect(sink.reasons({ uid: "u2" })).toEqual([]);
  });
});
