import type { NodeletServerData } from "../data/server-data.ts";
import { sendJson, sendJsonList } from "../responses/json.ts";
import type { Route } from "../routing/router.ts";

/** What only the control socket has: decisions, configuration, status, and stopping the agent. */
export function controlRoutes(data: NodeletServerData): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/decisions",
      handle: ({ query }, response) => {
        const pod = query.get("pod") ?? "";
        return sendJsonList(response, { head: {}, items: data.decisions(pod === "" ? {} : { pod }) });
      },
    },
    { methods: ["GET"], path: "/config", handle: (_, response) => sendJson(response, { value: data.config() }) },
    { methods: ["GET"], path: "/status", handle: (_, response) => sendJson(response, { value: data.status() }) },
    {
      methods: ["POST"],
      path: "/stop",
      handle: (_, response) => {
        // The answer first: stopping closes the socket.
        response.once("close", () => data.stop());
        sendJson(response, { status: 202, value: { stopping: true } });
      },
    },
  ];
}
