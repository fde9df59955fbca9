import type { Pod } from "../api/index.ts";
import type { DecisionSink } from "../decisions/decision.ts";

/** Where a pod came from; the value of the annotation `kubernetes.io/config.source`. */
export type PodSourceName = "file" | "http" | "api" | (string & {});

/**
 * Receives everything that a source wants on this node. Each call replaces the source's whole set: what is missing was removed.
 * The objects are immutable from then on. Each has name, namespace, UID, and the defaults of the API filled in; `decodeStaticPods` makes such pods
 * of a manifest, `defaultPod` fills in defaults. Pods without the three are ignored, with a record.
 */
export type PodSetListener = (pods: readonly Pod[]) => void;

/** What a source is given when it runs. */
export interface PodSourceRun {
  readonly onPods: PodSetListener;
  /** Where it tells what it left out, and why: a file that is no pod, a server that does not answer. Once, not with every try. */
  readonly decisions: DecisionSink;
  readonly signal: AbortSignal;
}

/**
 * A source of desired pods: a directory, a URL, the API server, or a program. The first `onPods` call, be it empty, marks the source as
 * ready; removal of unknown pods waits until every source was. A source that fails keeps its last set: it reports and tries again by itself.
 */
export interface PodSource {
  readonly name: PodSourceName;
  /** Delivers sets until the signal fires, then resolves. Rejects only when it can never work. */
  run(options: PodSourceRun): Promise<void>;
}
