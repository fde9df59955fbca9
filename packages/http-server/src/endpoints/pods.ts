import type { NodeletServerData } from "../data/server-data.ts";
import { sendJsonList } from "../responses/json.ts";
import type { Route } from "../routing/router.ts";

/** `GET /pods`: a v1 PodList of the pods bound to this node. */
export function podsRoute(data: Pick<NodeletServerData, "pods">): Route {
  return {
    methods: ["GET"],
    path: "/pods",
    handle: (_, response) =>
      sendJsonList(response, { head: { kind: "PodList", apiVersion: "v1", metadata: {} }, items: data.pods() }),
  };
}
