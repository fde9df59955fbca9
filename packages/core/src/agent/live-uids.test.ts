import { InMemoryStateStore, silentLogger } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import type { Pod } from "../api/index.ts";
import type { Decision } from "../decisions/decision.ts";
import type { ObservedPod } from "../runtime/observed-pod.ts";
import { LiveUids } from "./live-uids.ts";

const { signal } = new AbortController();
const podOf = (uid: string, name = "web-n1"): Pod => ({
  metadata: { uid, name, namespace: "kube-system" },
  spec: { containers: [] },
});
const live = (uid: string, ready = true, name = "web-n1"): ObservedPod => ({
  uid,
  name,
  namespace: "kube-system",
  sandboxes: [{ id: `s-${uid}`, attempt: 0, ready, createdAtNs: 1n, ips: [], networkMode: "POD", runtimeHandler: "" }],
  containers: [],
  lookedAtMs: 0,
});
const uids = (pods: readonly Pod[]): readonly (string | undefined)[] => pods.map(({ metadata }) => metadata?.uid);

function fixture(state = new InMemoryStateStore()) {
  const decisions: Decision[] = [];
  const sink = { record: (decision: Decision) => void decisions.push(decision) };
  return { state, decisions, liveUids: new LiveUids({ ports: { state, logger: silentLogger }, decisions: sink }) };
}

describe("UIDs of pods that already run", () => {
  it("are kept in the file however many were adopted before", async () => {
    const { liveUids, state } = fixture();
    const numbers = Array.from({ length: 1001 }, (_, at) => at);
    const rows = numbers.map(
      (at) => [podOf(`ours-${at}`, `web-${at}`), live(`theirs-${at}`, true, `web-${at}`)] as const,
    );
    for (const [pod, observed] of rows) liveUids.apply({ pods: [pod], observed: [observed], takeOver: true });
    const again = fixture(state).liveUids;
    await again.load(signal);
    expect(uids(again.apply({ pods: rows.map(([pod]) => pod), observed: [], takeOver: false })).slice(-1)).toEqual([
      "theirs-1000",
    ]);
  });

  it("are kept by a static pod of the same name when told to take over", () => {
    const { liveUids, decisions } = fixture();
    expect(uids(liveUids.apply({ pods: [podOf("ours")], observed: [live("theirs")], takeOver: true }))).toEqual([
      "theirs",
    ]);
    expect(decisions).toMatchObject([{ action: "adopt", pod: { uid: "theirs" }, inputs: { manifestUid: "ours" } }]);
  });

  it.each([
    ["without being told to", { observed: [live("theirs")], takeOver: false }],
    ["from a pod of another name", { observed: [live("theirs", true, "db-n1")], takeOver: true }],
    ["from a pod whose sandbox is gone", { observed: [live("theirs", false)], takeOver: true }],
    ["from nothing", { observed: [], takeOver: true }],
  ])("are not taken %s", (_why, request) => {
    const pods = [podOf("ours")];
    const answer = fixture().liveUids.apply({ pods, ...request });
    expect(answer[0]).toBe(pods[0]);
  });

  it("are not taken from a pod that a manifest names by itself", () => {
    const pods = [podOf("theirs"), podOf("ours")];
    expect(uids(fixture().liveUids.apply({ pods, observed: [live("theirs")], takeOver: true }))).toEqual([
      "theirs",
      "ours",
    ]);
  });

  it("are not handed on to a changed manifest, which is a new pod", () => {
    const { liveUids } = fixture();
    liveUids.apply({ pods: [podOf("ours")], observed: [live("theirs")], takeOver: true });
    expect(uids(liveUids.apply({ pods: [podOf("changed")], observed: [live("theirs")], takeOver: true }))).toEqual([
      "changed",
    ]);
  });

  it("stay over a restart without --take-over", async () => {
    const first = fixture();
    first.liveUids.apply({ pods: [podOf("ours")], observed: [live("theirs")], takeOver: true });
    const second = fixture(first.state);
    await second.liveUids.load(signal);
    expect(uids(second.liveUids.apply({ pods: [podOf("ours")], observed: [live("theirs")], takeOver: false }))).toEqual(
      ["theirs"],
    );
  });

  it("are forgotten, and told, when the state file is damaged", async () => {
    const first = fixture();
    first.liveUids.apply({ pods: [podOf("ours")], observed: [live("theirs")], takeOver: true });
    first.state.corrupt({ name: "adopted_uids_state" });
    const second = fixture(first.state);
    await second.liveUids.load(signal);
    expect(uids(second.liveUids.apply({ pods: [podOf("ours")], observed: [], takeOver: false }))).toEqual(["ours"]);
  });
});
