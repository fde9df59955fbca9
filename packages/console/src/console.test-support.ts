import type { DecisionRecord, Pod, PodStatus } from "@nodelet/core";

/** 2026-01-01T00:10:00Z. */
export const NOW_MS = Date.parse("2026-01-01T00:10:00Z");

/** A pod of one container `c`, made five minutes before NOW_MS. */
export function podNamed(name: string, status: Partial<PodStatus> = {}, namespace = "default"): Pod {
  return {
    metadata: { name, namespace, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:05:00Z" },
    spec: { containers: [{ name: "c", image: "i" }] },
    status: { phase: "Running", ...status },
  };
}

/** A decision ten seconds before NOW_MS. */
export function decision(changes: Partial<DecisionRecord> = {}): DecisionRecord {
  return {
    seq: 1,
    atMs: NOW_MS - 10_000,
    count: 1,
    action: "start",
    reason: "Started",
    message: "Container started",
    outcome: "ok",
    ...changes,
  };
}
