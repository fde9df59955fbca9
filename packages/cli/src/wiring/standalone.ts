import type { EventSink, Logger, NodeEvent, ObjectSource, PodStatusSink } from "@nodelet/core";

/** Verbosity from which upstream logs events. */
const EVENT_LEVEL = 3;

/** Events of a node without an API server: lines of the log, in upstream's words. */
export class LoggedEvents implements EventSink {
  readonly #logger: Logger;

  constructor(options: { readonly logger: Logger }) {
    this.#logger = options.logger.with({ component: "event" });
  }

  emit(event: NodeEvent): void {
    if (!this.#logger.enabled(EVENT_LEVEL)) return;
    const { kind, namespace, name, fieldPath = "" } = event.involved;
    this.#logger.debug(EVENT_LEVEL, "Event occurred", {
      object: namespace === "" ? name : `${namespace}/${name}`,
      fieldPath,
      kind,
      apiVersion: "v1",
      type: event.type,
      reason: event.reason,
      message: event.message,
    });
  }
}

/** Statuses of a node without an API server: the agent's own view is the one that is shown, so that each write has arrived. */
export const acceptingStatusSink: PodStatusSink = {
  writeStatus: async () => ({ kind: "accepted" }),
  podFinished: async () => ({ kind: "accepted" }),
};

/** A node without an API server has no objects that pods could refer to. */
export const noObjects: ObjectSource = {
  configMap: async () => undefined,
  secret: async () => undefined,
  services: async () => [],
  runtimeClass: async () => undefined,
};
