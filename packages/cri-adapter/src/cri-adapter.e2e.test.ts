import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxConfig } from "@nodelet/core";
import { type PreparedNode, prepareNode, standardImages } from "@nodelet/dev-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CriAdapter, createCriAdapter } from "./cri-adapter.ts";
import { realClock } from "./real-clock.test-support.ts";

/** Which optional procedures the two lines of containerd serve, as their servers' descriptors say. */
const abilities = {
  "1.6": {
    containerEvents: false,
    streamedLists: false,
    cgroupDriver: undefined,
    updatePodSandboxResources: false,
    metrics: false,
  },
  "2.1": {
    containerEvents: true,
    streamedLists: false,
    cgroupDriver: "cgroupfs",
    updatePodSandboxResources: false,
    metrics: false,
  },
} as const;

describe.each(["1.6", "2.1"] as const)("containerd %s", (version) => {
  let scratch: string;
  let node: PreparedNode;
  let adapter: CriAdapter;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "nodelet-cri-"));
    node = await prepareNode({ version, dir: join(scratch, "node") });
    adapter = createCriAdapter({ runtimeEndpoint: node.endpoint, clock: realClock });
  });
  afterAll(async () => {
    adapter.close();
    await node.close();
    await rm(scratch, { recursive: true, force: true });
  });

  it("has the abilities of its line", async () => {
    expect(await adapter.runtime.capabilities()).toEqual(abilities[version]);
  });

  it("killed under a call leaves its outcome unknown, refuses meanwhile, and is reached again", async () => {
    const sandboxConfig: SandboxConfig = {
      metadata: { name: "p", uid: "killed-under-a-call", namespace: "n", attempt: 0 },
      logDirectory: scratch,
      linux: {
        cgroupParent: `/${node.containerd.cgroupRoot}/killed`,
        securityContext: { namespaceOptions: { network: "NODE" } },
      },
    };
    const sandboxId = await adapter.runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "" });
    const config = {
      metadata: { name: "c", attempt: 0 },
      image: { image: standardImages.busybox },
      command: ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"],
      linux: { securityContext: { namespaceOptions: { network: "NODE" } } },
    } as const;
    const containerId = await adapter.runtime.createContainer({ sandboxId, config, sandboxConfig });
    await adapter.runtime.startContainer({ containerId });

    const stop = adapter.runtime.stopContainer({ containerId, timeoutSeconds: 60 }).catch((error: unknown) => error);
    // A later call on the same connection was answered, so the stop has arrived.
    await adapter.runtime.version();
    await node.containerd.kill("SIGKILL");
    expect(await stop).toMatchObject({ kind: "unknownOutcome", retryable: true });
    await expect(adapter.runtime.listContainers()).rejects.toMatchObject({
      kind: "unavailable",
      message: `container runtime at ${node.endpoint}: nobody listens on the socket. The runtime is not running or still starting`,
    });

    await node.containerd.restart();
    await expect
      .poll(
        () =>
          adapter.runtime.version().then(
            () => "reached",
            (error: Error) => error.message,
          ),
        { timeout: 5000 },
      )
      .toBe("reached");
    expect((await adapter.runtime.containerStatus({ containerId })).state).toBe("CONTAINER_RUNNING");
    await adapter.runtime.stopSandbox({ sandboxId });
    await adapter.runtime.removeSandbox({ sandboxId });
  });
});
