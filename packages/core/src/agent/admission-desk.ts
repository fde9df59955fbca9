import { type AdmissionVerdict, admitPod, type NodeFacts } from "../admission/index.ts";
import type { Pod } from "../api/index.ts";
import { isTerminalPhase } from "../api/index.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { DecisionSink } from "../decisions/decision.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import { podRef } from "./pod-ref.ts";

/**
 * Judges pods before they get a worker, and remembers who was turned away. A pod that already holds resources in the runtime was admitted in
 * an earlier life of the agent and is not judged again.
 */
export class Admission {
  readonly #config: AgentConfig;
  readonly #decisions: DecisionSink;
  readonly #rejected = new Map<string, Pod>();

  constructor(options: { readonly config: AgentConfig; readonly decisions: DecisionSink }) {
    this.#config = options.config;
    this.#decisions = options.decisions;
  }

  /** How many rejected pods are held. */
  get size(): number {
    return this.#rejected.size;
  }

  judge(request: {
    readonly pod: Pod;
    /** Its containers live from before this agent started. */
    readonly adopted: boolean;
    readonly otherPods: readonly Pod[];
    readonly node: NodeFacts;
  }): AdmissionVerdict {
    const { pod, adopted, otherPods, node } = request;
    const ref = podRef(pod);
    if (adopted) {
      this.#decisions.record({
        action: "adopt",
        pod: ref,
        reason: "AlreadyRunning",
        message: `Pod ${ref.namespace}/${ref.name} already runs; its containers are kept`,
        outcome: "ok",
      });
    }
    const verdict = this.#verdict({ pod, otherPods, node, adopted });
    if (adopted) return verdict;
    if (verdict.admit) {
      this.#decisions.record({
        action: "admit",
        pod: ref,
        reason: "Admitted",
        message: `Pod ${ref.namespace}/${ref.name} was admitted`,
        outcome: "ok",
      });
    } else {
      this.#rejected.set(ref.uid, pod);
      const { reason, message } = verdict;
      this.#decisions.record({
        action: "reject",
        pod: ref,
        reason,
        message,
        outcome: "rejected",
        event: { type: "Warning", reason, message },
      });
    }
    return verdict;
  }

  /** A pod that cannot even be judged, since its source gave what validation refuses, does not run. */
  #verdict(request: Parameters<Admission["judge"]>[0]): AdmissionVerdict {
    try {
      const { allowedUnsafeSysctls, featureGates: gates } = this.#config;
      return admitPod({ ...request, allowedUnsafeSysctls, gates });
    } catch (error) {
      return { admit: false, reason: "UnexpectedAdmissionError", message: NodeletError.from(error).message };
    }
  }

  isRejected(podUid: string): boolean {
    return this.#rejected.has(podUid);
  }

  /** Needs no judging: it is over already, or on its way out. */
  static isPast(pod: Pod): boolean {
    return pod.metadata?.deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase);
  }

  forget(podUid: string): void {
    this.#rejected.delete(podUid);
  }
}
