import type { Pod, PodStatus, PodStatusSink } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A PodStatusSink, and a look at what it took. */
export interface PodStatusSinkFixture extends ContractFixture {
  readonly sink: PodStatusSink;
  /** Makes a pod that the sink knows, with a name and UID of its own. */
  readonly makePod: () => Promise<Pod>;
  /** The status that the pod has behind the sink. */
  readonly statusOf: (pod: Pod) => Promise<PodStatus | undefined>;
}

/** What every PodStatusSink must do. */
export function describePodStatusSinkContract(options: ContractOptions<PodStatusSinkFixture>): void {
  describeContract("PodStatusSink contract", options, (test) => {
    test("takes the whole status of a pod, and takes it again", async ({ sink, makePod, statusOf }) => {
      const pod = await makePod();
      const status: PodStatus = { phase: "Running", podIP: "192.0.2.7" };
      expect(await sink.writeStatus({ pod, status })).toEqual({ kind: "accepted" });
      expect(await sink.writeStatus({ pod, status })).toEqual({ kind: "accepted" });
      expect(await statusOf(pod)).toMatchObject(status);
      expect(await sink.writeStatus({ pod, status: { phase: "Succeeded" } })).toEqual({ kind: "accepted" });
      expect((await statusOf(pod))?.phase).toBe("Succeeded");
    });

    test("keeps pods apart", async ({ sink, makePod, statusOf }) => {
      const [one, two] = [await makePod(), await makePod()];
      await sink.writeStatus({ pod: one, status: { phase: "Failed" } });
      await sink.writeStatus({ pod: two, status: { phase: "Running" } });
      expect([(await statusOf(one))?.phase, (await statusOf(two))?.phase]).toEqual(["Failed", "Running"]);
    });

    test("is told that a pod is finished, and may be told again", async ({ sink, makePod }) => {
      const pod = await makePod();
      const outcomes = [await sink.podFinished({ pod }), await sink.podFinished({ pod })];
      for (const { kind } of outcomes) expect(["accepted", "gone"]).toContain(kind);
    });

    test("a call whose signal has fired is cancelled and changes nothing", async ({ sink, makePod, statusOf }) => {
      const pod = await makePod();
      const before = await statusOf(pod);
      await expectFailure(sink.writeStatus({ pod, status: { phase: "Failed" }, signal: firedSignal() }), "cancelled");
      expect(await statusOf(pod)).toEqual(before);
    });
  });
}
