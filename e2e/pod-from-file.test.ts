import { readdir, readlink, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitsOf } from "./harness/cgroups.ts";
import { containerLogPath, keepLog, readContainerLog } from "./harness/container-log.ts";
import { container, obedient, podManifest, shell } from "./harness/manifests.ts";
import { NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

/** Ends two seconds after it was told to, and says both. */
const slowToEnd = shell(
  "trap 'echo told; sleep 2; echo ended; exit 0' TERM; echo began; while :; do sleep 3600 & wait $!; done",
);

describe.each(["1.6", "2.1"] as const)("pods from files on containerd %s", (version) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
  });
  afterAll(() => node.close());

  const remove = async (name: string): Promise<void> => {
    await node.agent.removeManifest(`${name}.yaml`);
    await node.waitForGone(name);
  };

  it("runs with the names, logs and cgroups by which another kubelet would know it", async () => {
    const resources = { limits: { cpu: "100m", memory: "32Mi" } };
    const spec = { containers: [container("main", shell("echo hello; exec sleep 3600"), { resources })] };
    await node.agent.writeManifest("web.yaml", podManifest("web", spec, { labels: { app: "shop" } }));
    const pod = await node.waitForReady("web");
    const uid = pod.metadata?.uid ?? "";
    const name = node.agent.podName("web");

    const [sandbox] = await node.sandboxes("web");
    expect(sandbox).toMatchObject({
      state: "SANDBOX_READY",
      metadata: { name, namespace: "default", uid, attempt: 0 },
      labels: {
        app: "shop",
        "io.kubernetes.pod.name": name,
        "io.kubernetes.pod.namespace": "default",
        "io.kubernetes.pod.uid": uid,
      },
      annotations: { "kubernetes.io/config.source": "file" },
    });
    const status = await node.containerStatus({ pod: "web", container: "main" });
    expect(status).toMatchObject({
      state: "CONTAINER_RUNNING",
      metadata: { name: "main", attempt: 0 },
      labels: {
        "io.kubernetes.container.name": "main",
        "io.kubernetes.pod.name": name,
        "io.kubernetes.pod.namespace": "default",
        "io.kubernetes.pod.uid": uid,
      },
      annotations: {
        "io.kubernetes.container.restartCount": "0",
        "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
        "io.kubernetes.container.terminationMessagePolicy": "File",
        "io.kubernetes.pod.terminationGracePeriod": "2",
      },
      logPath: containerLogPath(node.agent, { pod, container: "main" }),
    });
    expect(stateOf(pod)?.containerID).toBe(`containerd://${status.id}`);

    await expect.poll(() => readContainerLog(status.logPath)).toMatchObject([{ stream: "stdout", text: "hello" }]);
    const link = `${name}_default_main-${status.id}.log`;
    expect(await readlink(join(node.agent.dirs.links, link))).toBe(status.logPath);

    // Limits on everything make it Guaranteed, whose pods are directly below kubepods.
    const limits = { memoryBytes: 32 * 1024 * 1024, cpuQuotaUs: 10_000, cpuPeriodUs: 100_000 };
    expect(await limitsOf(node, `kubepods/pod${uid}`)).toEqual(limits);
    expect(await limitsOf(node, `kubepods/pod${uid}/${status.id}`)).toEqual(limits);
    expect(pod.status?.qosClass).toBe("Guaranteed");

    const shown = JSON.parse((await node.agent.get("readOnly", "/pods")).text) as { items: { metadata: unknown }[] };
    expect(shown.items.map(({ metadata }) => metadata)).toMatchObject([{ name, uid }]);
    await remove("web");
    await node.waitForNothingLeft({ uid });
    expect(await readdir(node.agent.dirs.links)).toEqual([]);
  });

  it("is replaced when its file changes: the old one has its time to end, then the new one starts", async () => {
    const spec = { terminationGracePeriodSeconds: 30, containers: [container("main", slowToEnd)] };
    await node.agent.writeManifest("edited.yaml", podManifest("edited", spec, { labels: { revision: "one" } }));
    const first = await node.waitForReady("edited");
    const log = containerLogPath(node.agent, { pod: first, container: "main" });
    await expect.poll(() => readContainerLog(log)).toMatchObject([{ text: "began" }]);
    const kept = await keepLog(node.agent, log);

    await node.agent.writeManifest("edited.yaml", podManifest("edited", spec, { labels: { revision: "two" } }));
    const second = await node.waitForPod("edited", {
      what: "to be the new one and Running",
      fits: ({ metadata, status }) => metadata?.labels?.["revision"] === "two" && status?.phase === "Running",
    });
    expect(second.metadata?.uid).not.toBe(first.metadata?.uid);
    const lines = await readContainerLog(kept);
    expect(lines.map(({ text }) => text)).toEqual(["began", "told", "ended"]);
    const { startedAtNs } = await node.containerStatus({ pod: "edited", container: "main" });
    expect(Number(startedAtNs / 1_000_000n)).toBeGreaterThanOrEqual(lines[2]?.atMs ?? Number.POSITIVE_INFINITY);
    await node.waitForNothingLeft({ uid: first.metadata?.uid });
    await remove("edited");
    await node.waitForNothingLeft({ uid: second.metadata?.uid });
  });

  it("is killed after its grace when it does not heed the signal", async () => {
    const deaf = container("main", shell("trap '' TERM; while :; do sleep 1; done"));
    await node.agent.writeManifest("deaf.yaml", podManifest("deaf", { containers: [deaf] }));
    const pod = await node.waitForReady("deaf");
    const began = performance.now();
    await remove("deaf");
    expect(performance.now() - began).toBeGreaterThanOrEqual(2_000);
    await node.waitForNothingLeft({ uid: pod.metadata?.uid });
  });

  it("runs on untouched when its file is touched, rewritten, replaced by a copy, or says the same in other words", async () => {
    const same = podManifest("same", { containers: [container("main", ["sleep", "3600"])] });
    await node.agent.writeManifest("same.yaml", same);
    const before = await node.waitForReady("same");
    const path = join(node.agent.dirs.manifests, "same.yaml");
    await utimes(path, new Date(), new Date());
    await writeFile(path, JSON.stringify(same));
    await writeFile(join(node.agent.dirs.manifests, "..", "copy"), JSON.stringify(same));
    await rename(join(node.agent.dirs.manifests, "..", "copy"), path);
    const yaml = [
      "apiVersion: v1",
      "kind: Pod",
      "metadata: {name: same}",
      "spec:",
      "  containers:",
      "  - {image: 'localhost/busybox:1', name: main, command: [sleep, '3600'], imagePullPolicy: IfNotPresent}",
      "  terminationGracePeriodSeconds: 2",
    ];
    await writeFile(path, yaml.join("\n"));
    // Once a later file has had its effect, so had the earlier ones.
    await node.agent.writeManifest("other.yaml", podManifest("other"));
    await node.waitForReady("other");
    const after = await node.waitForReady("same");
    expect(after.metadata?.uid).toBe(before.metadata?.uid);
    expect(stateOf(after)).toMatchObject({ restartCount: 0, containerID: stateOf(before)?.containerID ?? "none" });
    expect(await node.containers({ pod: "same" })).toHaveLength(1);
    await node.agent.removeManifest("other.yaml");
    await remove("same");
    await node.waitForGone("other");
    await node.waitForNothingLeft();
  });

  it("ends first and runs again under its UID when its file comes back while it stops", async () => {
    const spec = { terminationGracePeriodSeconds: 30, containers: [container("main", slowToEnd)] };
    await node.agent.writeManifest("back.yaml", podManifest("back", spec));
    const first = await node.waitForReady("back");
    const log = containerLogPath(node.agent, { pod: first, container: "main" });
    await expect.poll(() => readContainerLog(log)).toMatchObject([{ text: "began" }]);
    const kept = await keepLog(node.agent, log);
    await node.agent.removeManifest("back.yaml");
    await node.waitFor({
      what: "the old container to be told",
      until: async () => (await readContainerLog(kept)).some(({ text }) => text === "told"),
    });
    await node.agent.writeManifest("back.yaml", podManifest("back", spec));
    const again = await node.waitForPod("back", {
      what: "to run in a new container",
      fits: (pod) =>
        stateOf(pod)?.state?.running !== undefined && stateOf(pod)?.containerID !== stateOf(first)?.containerID,
    });
    expect(again.metadata?.uid).toBe(first.metadata?.uid);
    const lines = await readContainerLog(kept);
    expect(lines.map(({ text }) => text)).toEqual(["began", "told", "ended"]);
    const { startedAtNs } = await node.containerStatus({ pod: "back", container: "main" });
    expect(Number(startedAtNs / 1_000_000n)).toBeGreaterThanOrEqual(lines[2]?.atMs ?? Number.POSITIVE_INFINITY);
    await remove("back");
    await node.waitForNothingLeft({ uid: first.metadata?.uid });
  });

  it("may have two containers, each with its own log", async () => {
    const containers = ["one", "two"].map((name) => container(name, shell(`echo ${name}; exec sleep 3600`)));
    await node.agent.writeManifest("pair.yaml", podManifest("pair", { containers }));
    const pod = await node.waitForReady("pair");
    for (const name of ["one", "two"]) {
      const path = containerLogPath(node.agent, { pod, container: name });
      await expect.poll(() => readContainerLog(path)).toMatchObject([{ text: name }]);
    }
    expect(await node.sandboxes("pair")).toHaveLength(1);
    await remove("pair");
    await node.waitForNothingLeft();
  });

  it("come and go by the dozen", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    const containers = [container("main", obedient)];
    await Promise.all(names.map((name) => node.agent.writeManifest(`${name}.yaml`, podManifest(name, { containers }))));
    for (const name of names) await node.waitForReady(name);
    await Promise.all(names.map((name) => node.agent.removeManifest(`${name}.yaml`)));
    for (const name of names) await node.waitForGone(name);
    await node.waitForNothingLeft();
    expect(await node.agent.pods()).toEqual([]);
  });
});
