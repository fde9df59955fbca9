import {
  type CallOptions,
  type Clock,
  NodeletError,
  type Pod,
  type PodStatus,
  type PodStatusSink,
  type StatusOutcome,
  throwIfAborted,
} from "@nodelet/core";

/** One status that was accepted. */
export interface WrittenStatus {
  readonly uid: string;
  readonly status: PodStatus;
  /** Wall time, milliseconds since the epoch; 0 without a clock. */
  readonly atMs: number;
}

/** Decides the outcome of a write; an error is thrown; `undefined` leaves it to the next, in the end accepted. */
export type StatusResponder = (write: {
  readonly call: "writeStatus" | "podFinished";
  readonly pod: Pod;
  readonly status: PodStatus | undefined;
}) => StatusOutcome | NodeletError | undefined;

/** Keeps every accepted status of every pod. Outcomes can be programmed. */
export class RecordingStatusSink implements PodStatusSink {
  readonly #clock: Clock | undefined;
  readonly #written: WrittenStatus[] = [];
  readonly #last = new Map<string, PodStatus>();
  readonly #finished = new Set<string>();
  readonly #responders: StatusResponder[] = [];

  constructor(options: { readonly clock?: Clock } = {}) {
    this.#clock = options.clock;
  }

  /** All accepted statuses in order. */
  get written(): readonly WrittenStatus[] {
    return this.#written;
  }

  /** UIDs of pods that were told to be finished. */
  get finished(): ReadonlySet<string> {
    return this.#finished;
  }

  /** The status that a pod has now. */
  last(uid: string): PodStatus | undefined {
    return this.#last.get(uid);
  }

  /** Statuses of one pod, oldest first. */
  history(uid: string): readonly PodStatus[] {
    return this.#written.filter((written) => written.uid === uid).map(({ status }) => status);
  }

  /** Phases of one pod, oldest first, each named once in a row. */
  phases(uid: string): readonly (string | undefined)[] {
    const phases = this.history(uid).map(({ phase }) => phase);
    return phases.filter((phase, index) => index === 0 || phase !== phases[index - 1]);
  }

  /** Asks `responder` before the others from now on; the answer takes it away. */
  respond(responder: StatusResponder): () => void {
    this.#responders.unshift(responder);
    return () => {
      const index = this.#responders.indexOf(responder);
      if (index >= 0) this.#responders.splice(index, 1);
    };
  }

  async writeStatus(request: { readonly pod: Pod; readonly status: PodStatus } & CallOptions): Promise<StatusOutcome> {
    const { pod, status } = request;
    const uid = uidOf(pod);
    const outcome = this.#decide({ call: "writeStatus", pod, status }, request);
    if (outcome.kind === "accepted") {
      this.#written.push({ uid, status, atMs: this.#clock?.nowMs() ?? 0 });
      this.#last.set(uid, status);
    }
    return outcome;
  }

  async podFinished(request: { readonly pod: Pod } & CallOptions): Promise<StatusOutcome> {
    const { pod } = request;
    const outcome = this.#decide({ call: "podFinished", pod, status: undefined }, request);
    if (outcome.kind === "accepted") this.#finished.add(uidOf(pod));
    return outcome;
  }

  #decide(write: Parameters<StatusResponder>[0], options: CallOptions): StatusOutcome {
    throwIfAborted(options.signal, write.call);
    for (const responder of this.#responders) {
      const outcome = responder(write);
      if (NodeletError.is(outcome)) throw outcome;
      if (outcome !== undefined) return outcome;
    }
    return { kind: "accepted" };
  }
}

function uidOf(pod: Pod): string {
  const uid = pod.metadata?.uid;
  if (uid === undefined) throw new NodeletError("invalid", "a pod without a UID has no status");
  return uid;
}
