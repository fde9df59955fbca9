import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultAgentConfig } from "@nodelet/core";
import { SimulatedNode } from "@nodelet/testkit";
import type { ServiceIdentifier } from "inversify";
import { describe, expect, onTestFinished, test } from "vitest";
import { StopSwitch } from "../run/stop-switch.ts";
import { resolveSettings } from "../settings/resolve-settings.ts";
import type { Settings } from "../settings/settings-table.ts";
import { createContainer } from "./container.ts";
import { ids } from "./identifiers.ts";
import { serverData } from "./server-data.ts";

const settingsWith = (flags: Partial<Settings>): Settings =>
  resolveSettings({ flags, file: { values: {}, warnings: [], files: [] }, hasFile: false }).values;

describe("the container", () => {
  const make = () => {
    const rootDir = mkdtempSync(join(tmpdir(), "nodelet-wiring-"));
    onTestFinished(() => rmSync(rootDir, { recursive: true }));
    const settings = settingsWith({ rootDir, staticPodPath: join(rootDir, "m"), staticPodUrl: "http://127.0.0.1:1/" });
    return createContainer({ settings, config: defaultAgentConfig("n1"), stop: new StopSwitch() });
  };

  test.each(Object.entries(ids) as [string, ServiceIdentifier][])("makes %s once", async (_, id) => {
    const container = make();
    const made = await container.getAsync(id);
    expect(made).toBeDefined();
    expect(await container.getAsync(id)).toBe(made);
  });

  test("of another agent shares nothing with it", async () => {
    const [one, other] = [make(), make()];
    for (const id of [ids.agent, ids.logger, ids.clock, ids.criAdapter, ids.cgroups] as ServiceIdentifier[])
      expect(await one.getAsync(id)).not.toBe(await other.getAsync(id));
  });

  test("has the sources that the settings name", () => {
    expect(
      make()
        .get(ids.sources)
        .map(({ name }) => name),
    ).toEqual(["file", "http"]);
  });
});

describe("what the listeners show", () => {
  const pod = (name: string, namespace: string) => ({
    metadata: { name, namespace },
    spec: { containers: [{ name: "c", image: "localhost/busybox:1" }] },
  });

  async function shown(settings: Partial<Settings> = {}) {
    const node = new SimulatedNode({ nodeName: "n1" });
    node.images.add("localhost/busybox:1");
    const agent = node.start();
    const stop = new StopSwitch();
    const data = serverData({ agent, settings: settingsWith(settings), stop });
    node.pods.apply(pod("web", "default"));
    node.pods.apply(pod("web", "other"));
    await node.untilPods(({ status }) => status?.phase === "Running", { limitMs: 60_000 });
    return { data, stop, node };
  }

  test("pods with their status, and what their workers do", async () => {
    const { data } = await shown();
    expect(data.pods()).toMatchObject([
      { metadata: { name: "web" }, status: { phase: "Running" } },
      { metadata: { name: "web" }, status: { phase: "Running" } },
    ]);
    const uids = data.pods().map(({ metadata }) => metadata?.uid ?? "");
    expect(data.status()).toMatchObject({
      ready: true,
      node: "n1",
      pid: process.pid,
      kubernetes: "v1.36.2",
      runtimeErrors: [],
      stopping: false,
      work: Object.fromEntries(uids.map((uid) => [uid, "syncing"])),
    });
    expect(data.healthChecks().map((each) => [each.name, each.check()])).toEqual([["syncloop", undefined]]);
  });

  test("decisions of one pod by UID, by namespace and name, and of all of a name", async () => {
    const { data } = await shown();
    const [pod] = data.pods();
    const of = (filter?: string) =>
      new Set(data.decisions(filter === undefined ? {} : { pod: filter }).map(({ pod: ref }) => ref?.namespace));
    expect(of(pod?.metadata?.uid)).toEqual(new Set([pod?.metadata?.namespace]));
    expect(of("other/web")).toEqual(new Set(["other"]));
    expect(of("web")).toEqual(new Set(["default", "other"]));
    expect(of("none")).toEqual(new Set());
    expect(of()).toContain("default");
  });

  test("the configuration without what is secret", async () => {
    const { data } = await shown({ staticPodUrlHeader: [["Authorization", "Bearer secret"]], maxPods: 7 });
    expect(data.config()).toMatchObject({ maxPods: 7, staticPodUrlHeader: "***" });
    expect(JSON.stringify(data.config())).not.toContain("secret");
    expect((await shown()).data.config()).toMatchObject({ staticPodUrlHeader: [] });
  });

  test("a stop presses the switch, once", async () => {
    const { data, stop } = await shown();
    data.stop();
    stop.request("again");
    expect(stop.reason).toBe("the control socket asked for it");
    expect(data.status()).toMatchObject({ stopping: true });
  });
});
