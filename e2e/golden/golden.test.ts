import type { PodStatus } from "@nodelet/core";
import type { ProcessPlan } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { normal } from "./normal.test-support.ts";
import { type Doings, runAsRecorded } from "./recorded-node.test-support.ts";
import {
  loadRecording,
  type RecordedCri,
  type RecordedEvent,
  type Recording,
  recordingNames,
} from "./recordings.test-support.ts";

/** Recordings that the whole agent cannot be held against yet, and why. Whoever builds the feature takes the row away. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "hook-post": "lifecycle hooks are not built yet",
  "probe-live-fail": "probes are not built yet",
  "probe-notready": "probes are not built yet",
  "probe-ready": "probes are not built yet",
  "side-startup": "probes are not built yet",
  "vol-cm": "volumes are not built yet",
  "vol-cm-missing": "volumes are not built yet",
  "vol-cm-optional": "volumes are not built yet",
  "vol-empty": "volumes are not built yet",
  "vol-host": "volumes are not built yet",
  "vol-host-create": "volumes are not built yet",
  "vol-image": "volumes are not built yet",
  "vol-memory": "volumes are not built yet",
  "vol-projected": "volumes are not built yet",
  "vol-rro": "volumes are not built yet",
  "vol-secret": "volumes are not built yet",
  "vol-subpath": "volumes are not built yet",
  "vol-subpathexpr": "volumes are not built yet",
  "vol-token": "volumes are not built yet",
};

/** What the process of a container did there, where the in-memory runtime does not know it by its command. */
const PROCESSES: Readonly<Record<string, ProcessPlan>> = {
  // A shell without a terminal and without input ends.
  "cmd-none-exits": { exit: { afterMs: 0, exitCode: 0 } },
  "out-message-path": { exit: { afterMs: 0, exitCode: 0 }, terminationMessage: "p\n" },
  "out-oom": { exit: { afterMs: 900, exitCode: 137, reason: "OOMKilled" } },
  // SIGKILL to oneself does nothing to process 1 of a namespace; the shell then ends with the status of its last command.
  "out-signal": { exit: { afterMs: 0, exitCode: 1 } },
};

/**
 * Recordings in which something is tried again and again: how often within the 17 s depends on the jitter of the pauses (10 to 15 s), so one try
 * more or less is no difference, and the recorded status is one of those that were posted on the way.
 */
const RETRIED: ReadonlySet<string> = new Set([
  "env-missing-key",
  "env-missing-map",
  "init-fail-always",
  "out-badcmd",
  "out-badimage",
  "out-never",
  "out-noimage",
  "sec-proc-unmasked",
]);

/** Events that upstream tells anew at each sync while something lasts; it syncs more often than ours, so only that they were told is compared. */
const TOLD_AT_EACH_SYNC: ReadonlySet<string> = new Set(["BackOff", "DeadlineExceeded"]);

/** On cgroup v1 the kubelet now and then reports "no limit" of the pod's cgroup as a memory limit, and it lost one of a cgroup that was gone. */
const UNLIMITED = "9007199254740988Ki";
const LOST_LIMITS: Readonly<Record<string, NonNullable<PodStatus["resources"]>>> = {
  "out-oom": { limits: { memory: "48Mi" }, requests: { memory: "48Mi" } },
};

const names = recordingNames().filter((name) => LEFT_OUT[name] === undefined);

describe("a whole agent does what kubelet 1.36.2 did", () => {
  it("with every recording, but for those that are left out with their reason", () => {
    for (const name of [...Object.keys(LEFT_OUT), ...Object.keys(PROCESSES), ...RETRIED])
      expect(recordingNames()).toContain(name);
    expect(names.length).toBeGreaterThanOrEqual(68);
  });

  const once = names.filter((name) => !RETRIED.has(name));
  const retried = names.filter((name) => RETRIED.has(name));
  // Latencies of the runtime and the jitter of pauses come from the seed.
  for (const seed of [1, 2]) {
    it.each(once)(`%s, by seed ${seed}`, async (name) => {
      const recording = loadRecording(name);
      const doings = await run(name, recording, seed);
      const { made, recorded } = calls(doings, recording);
      expect(made).toEqual(recorded);
      const { posted, expected } = statuses(name, doings, recording);
      expect(posted.at(-1)).toEqual(expected);
      expectEvents(doings, recording, { spare: 0 });
    });

    it.each(retried)(`%s, which is tried again, by seed ${seed}`, async (name) => {
      const recording = loadRecording(name);
      const doings = await run(name, recording, seed);
      const { made, recorded } = calls(doings, recording);
      const length = Math.min(made.length, recorded.length);
      expect(made.slice(0, length)).toEqual(recorded.slice(0, length));
      expect(Math.abs(made.length - recorded.length)).toBeLessThanOrEqual(ONE_TRY);
      const { posted, expected } = statuses(name, doings, recording);
      expect(posted).toContainEqual(expected);
      expectEvents(doings, recording, { spare: 1 });
    });
  }
});

function run(name: string, recording: Recording, seed: number): Promise<Doings> {
  const process = PROCESSES[name];
  return runAsRecorded({ pod: recording.pod, seed, ...(process && { program: () => process }) });
}

/** Every changing call in order. */
function calls(
  doings: Doings,
  recording: Recording,
): { readonly made: readonly unknown[]; readonly recorded: readonly unknown[] } {
  return {
    made: doings.cri.map((call) => normal(comparable(call), doings.names)),
    recorded: onceRemoved(recording.cri).map((call) => normal(comparable(call))),
  };
}

/** Calls of one more try: create, start, and the removal of the one before the last. */
const ONE_TRY = 3;

/** The text of a failure comes from the runtime and shows in events and status. */
function comparable({ call, request, error }: RecordedCri): object {
  return { call, request, failed: error !== undefined };
}

/** Upstream's pruning and its garbage collection may both remove the same container. */
function onceRemoved(calls: readonly RecordedCri[]): readonly RecordedCri[] {
  const removed = new Set<unknown>();
  return calls.filter(({ call, request }) => {
    if (call !== "RemoveContainer") return true;
    const id = request["container_id"];
    return !removed.has(id) && removed.add(id);
  });
}

function statuses(
  name: string,
  doings: Doings,
  recording: Recording,
): { readonly posted: readonly unknown[]; readonly expected: unknown } {
  return {
    posted: doings.statuses.map((status) => normal(status, doings.names)),
    expected: normal(withTrueLimits(name, recording.status)),
  };
}

function withTrueLimits(name: string, status: PodStatus): PodStatus {
  const { resources } = status;
  if (resources === undefined) return status;
  const { memory, ...others } = resources.limits ?? {};
  const { limits: _limits, ...rest } = resources;
  const unlimited = Object.keys(others).length > 0 ? { ...rest, limits: others } : rest;
  return { ...status, resources: LOST_LIMITS[name] ?? (memory === UNLIMITED ? unlimited : resources) };
}

/** Events in the order of their first appearance. `spare`: how far counts may differ. */
function expectEvents(doings: Doings, recording: Recording, { spare }: { readonly spare: number }): void {
  const told = normal(doings.events, doings.names) as RecordedEvent[];
  const recorded = normal(recording.events) as RecordedEvent[];
  expect(lines(told)).toEqual(lines(recorded));
  for (const event of recorded) {
    if (TOLD_AT_EACH_SYNC.has(event.reason)) continue;
    const ours = told.find((other) => other.message === event.message && other.fieldPath === event.fieldPath);
    expect(ours?.count ?? 0, event.message).toBeGreaterThanOrEqual(event.count - spare);
    expect(ours?.count ?? 0, event.message).toBeLessThanOrEqual(event.count + spare);
  }
}

function lines(events: readonly RecordedEvent[]): readonly string[] {
  return events.map(({ type, reason, message, fieldPath = "pod" }) => `${fieldPath}: ${type} ${reason}: ${message}`);
}
