import { MemoryLogger } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import { standalonePorts } from "./standalone-ports.ts";

const involved = { kind: "Pod", namespace: "shop", name: "web", uid: "u1", fieldPath: "spec.containers{app}" } as const;
const event = { type: "Normal", reason: "Pulled", message: "Image is there", involved, atMs: 0 } as const;

describe("the ports of a node without an API server", () => {
  it("take every status and finish every pod", async () => {
    const { statusSink } = standalonePorts({ logger: new MemoryLogger() });
    const pod = { metadata: { name: "web", namespace: "shop", uid: "u1" } };
    expect(await statusSink.writeStatus({ pod, status: { phase: "Running" } })).toEqual({ kind: "accepted" });
    expect(await statusSink.podFinished({ pod })).toEqual({ kind: "accepted" });
  });

  it("know no objects", async () => {
    const { objects } = standalonePorts({ logger: new MemoryLogger() });
    const name = { namespace: "shop", name: "settings" };
    expect(await objects.configMap(name)).toBeUndefined();
    expect(await objects.secret(name)).toBeUndefined();
    expect(await objects.services()).toEqual([]);
    expect(await objects.runtimeClass({ name: "kata" })).toBeUndefined();
  });

  it("log events from verbosity 3 on, as the kubelet does", () => {
    const quiet = new MemoryLogger({ verbosity: 2 });
    standalonePorts({ logger: quiet }).events.emit(event);
    expect(quiet.records).toEqual([]);
    const logger = new MemoryLogger({ verbosity: 3 });
    standalonePorts({ logger }).events.emit(event);
    expect(logger.records).toEqual([
      {
        level: "debug",
        verbosity: 3,
        message: "Event occurred",
        fields: {
          component: "event",
          object: "shop/web",
          fieldPath: "spec.containers{app}",
          kind: "Pod",
          apiVersion: "v1",
          type: "Normal",
          reason: "Pulled",
          message: "Image is there",
        },
      },
    ]);
  });
});
