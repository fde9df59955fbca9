import { describe, expect, it } from "vitest";
import { observedPod, podOf, sandbox } from "../observed-pod.test-support.ts";
import type { ObservedSandbox } from "../observed-pod.ts";
import { sandboxDecision } from "./sandbox-decision.ts";

interface Row {
  readonly rule: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly hostNetwork?: boolean;
  readonly expected: { readonly keep: string } | { readonly attempt: number; readonly replaces: string | undefined };
}

const host = { networkMode: "NODE", ips: [] } as const;

const rows: readonly Row[] = [
  { rule: "no sandbox: attempt 0", sandboxes: [], expected: { attempt: 0, replaces: undefined } },
  {
    rule: "two ready: a third, after the newest",
    sandboxes: [sandbox("s2", { attempt: 1 }), sandbox("s1")],
    expected: { attempt: 2, replaces: "s2" },
  },
  {
    rule: "newest not ready",
    sandboxes: [sandbox("s1", { attempt: 4, ready: false })],
    expected: { attempt: 5, replaces: "s1" },
  },
  {
    rule: "newest not ready though an older one is",
    sandboxes: [sandbox("s2", { attempt: 1, ready: false }), sandbox("s1")],
    expected: { attempt: 2, replaces: "s2" },
  },
  {
    rule: "pod moved to the host network: nobody is told of a replacement",
    sandboxes: [sandbox("s1")],
    hostNetwork: true,
    expected: { attempt: 1, replaces: undefined },
  },
  {
    rule: "pod moved off the host network",
    sandboxes: [sandbox("s1", host)],
    expected: { attempt: 1, replaces: undefined },
  },
  {
    rule: "network without address",
    sandboxes: [sandbox("s1", { ips: [] })],
    expected: { attempt: 1, replaces: "s1" },
  },
  { rule: "no network block told: kept", sandboxes: [sandbox("s1", { ips: undefined })], expected: { keep: "s1" } },
  {
    rule: "host network needs no address",
    sandboxes: [sandbox("s1", host)],
    hostNetwork: true,
    expected: { keep: "s1" },
  },
  { rule: "newest ready and whole: kept", sandboxes: [sandbox("s1")], expected: { keep: "s1" } },
  {
    rule: "two not ready from before a reboot and one ready: the ready one is used",
    sandboxes: [
      sandbox("s3", { attempt: 2 }),
      sandbox("s2", { attempt: 1, ready: false }),
      sandbox("s1", { ready: false }),
    ],
    expected: { keep: "s3" },
  },
];

describe("sandboxDecision", () => {
  it.each(rows)("$rule", ({ sandboxes, hostNetwork, expected }) => {
    const decision = sandboxDecision(podOf({ hostNetwork: hostNetwork ?? false }), observedPod([], sandboxes));
    const told =
      decision.kind === "keep"
        ? { keep: decision.sandbox.id }
        : { attempt: decision.attempt, replaces: decision.replaces };
    expect(told).toEqual(expected);
  });
});
