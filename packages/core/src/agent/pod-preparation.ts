import type { Pod } from "../api/index.ts";
import type { DecisionSink, PodRef } from "../decisions/decision.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import type { PodFiles } from "../ports/pod-files.ts";
import type { Ownership } from "./ownership.ts";
import type { PodCgroups } from "./pod-cgroups.ts";
import { podFilesRef, podRef } from "./pod-ref.ts";
import type { Removals } from "./removals.ts";

interface PreparationParts {
  readonly ports: { readonly podFiles: PodFiles };
  readonly decisions: DecisionSink;
  readonly podCgroups: PodCgroups;
  readonly ownership: Ownership;
  readonly removals: Removals;
}

/**
 * Makes what a pod needs before its sandbox: cgroup and directories, side by side. Waits for the removal of an earlier pod of its UID. Rejects with
 * the first failure, which was told; both have ended then, so that nothing of a failed try goes on.
 */
export async function preparePod(request: {
  readonly pod: Pod;
  readonly parts: PreparationParts;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { pod, parts, signal } = request;
  const ref = podRef(pod);
  await parts.removals.over(ref.uid, signal);
  parts.ownership.claim(ref.uid);
  const told = (work: Promise<void>, failure: Failure): Promise<void> => tellFailure({ work, ref, failure, parts });
  const outcomes = await Promise.allSettled([
    told(parts.podCgroups.ensure({ pod, signal }), CGROUP_FAILURE),
    told(parts.ports.podFiles.ensurePod({ ...podFilesRef(ref), signal }), DIRECTORY_FAILURE),
  ]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

interface Failure {
  readonly reason: string;
  readonly what: string;
}

const CGROUP_FAILURE: Failure = {
  reason: "FailedCreatePodContainer",
  what: "unable to ensure pod container exists",
};
const DIRECTORY_FAILURE: Failure = { reason: "Failed", what: "error making pod data directories" };

async function tellFailure(terms: {
  readonly work: Promise<void>;
  readonly ref: PodRef;
  readonly failure: Failure;
  readonly parts: Pick<PreparationParts, "decisions">;
}): Promise<void> {
  try {
    await terms.work;
  } catch (error) {
    const { reason, what } = terms.failure;
    const message = `${what}: ${NodeletError.from(error).message}`;
    const event = { type: "Warning", reason, message } as const;
    terms.parts.decisions.record({ action: "retry", pod: terms.ref, reason, message, outcome: "failed", event });
    throw error;
  }
}
