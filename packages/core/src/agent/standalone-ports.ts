import type { EventSink, NodeEvent } from "../ports/event-sink.ts";
import type { Logger } from "../ports/logger.ts";
import type { ObjectSource } from "../ports/object-source.ts";
import type { PodStatusSink } from "../ports/pod-status-sink.ts";

/** What a node without an API server has in the place of one. */
export interface StandalonePorts {
  readonly objects: ObjectSource;
  readonly events: EventSink;
  readonly statusSink: PodStatusSink;
}

/**
 * The ports to an API server for a node that has none, as the kubelet's standalone mode: there are no objects that pods could refer to, events are
 * lines of the log, and every status is taken at once, since the agent's own view (`agent.pods()`) is the one that is shown.
 */
export function standalonePorts(options: { readonly logger: Logger }): StandalonePorts {
  return {
    objects: {
      configMap: async () => undefined,
      secret: async () => undefined,
      services: async () => [],
      runtimeClass: async () => undefined,
    },
    events: loggedEvents(options.logger.with({ component: "event" })),
    statusSink: {
      writeStatus: async () => ({ kind: "accepted" }),
      podFinished: async () => ({ kind: "accepted" }),
    },
  };
}

/** Verbosity from which upstream logs events. */
const EVENT_LEVEL = 3;

/** Events in upstream's words. */
function loggedEvents(logger: Logger): EventSink {
  return {
    emit: (event: NodeEvent): void => {
      if (!logger.enabled(EVENT_LEVEL)) return;
      const { kind, namespace, name, fieldPath = "" } = event.involved;
      logger.debug(EVENT_LEVEL, "Event occurred", {
        object: namespace === "" ? name : `${namespace}/${name}`,
        fieldPath,
        kind,
        apiVersion: "v1",
        type: event.type,
        reason: event.reason,
        message: event.message,
      });
    },
  };
}
