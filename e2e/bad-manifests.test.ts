import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerLogPath, readContainerLog } from "./harness/container-log.ts";
import { container, podManifest, shell } from "./harness/manifests.ts";
import { NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

const yamlPod = (name: string, lines: readonly string[]): string =>
  [
    "apiVersion: v1",
    "kind: Pod",
    `metadata: {name: ${name}}`,
    "spec:",
    "  terminationGracePeriodSeconds: 2",
    ...lines,
    "",
  ].join("\n");

const main = (command: string): string =>
  `  containers: [{name: main, image: 'localhost/busybox:1', imagePullPolicy: IfNotPresent, command: [sh, -c, '${command}']}]`;

const noEnvText = "  containers: [{name: main, image: 'localhost/busybox:1', env: [{name: A, value: no}]}]";

/** What the log must name beside the file. */
const badFiles: readonly { readonly file: string; readonly content: string; readonly told: string }[] = [
  { file: "text.yaml", content: "this is: not: a pod", told: "text.yaml" },
  { file: "empty.yaml", content: "", told: "empty.yaml" },
  { file: "kind.yaml", content: "apiVersion: v1\nkind: Service\nmetadata: {name: kind}\n", told: "Service" },
  { file: "none.yaml", content: yamlPod("none", ["  containers: []"]), told: "spec.containers" },
  { file: "image.yaml", content: yamlPod("image", ["  containers: [{name: main}]"]), told: "spec.containers[0].image" },
  { file: "bool.yaml", content: yamlPod("bool", ["  hostNetwork: maybe", main("true")]), told: "spec.hostNetwork" },
  { file: "name.yaml", content: yamlPod("yes", [main("true")]), told: "metadata.name" },
  { file: "env.yaml", content: yamlPod("env", [noEnvText]), told: "spec.containers[0].env[0].value" },
  {
    file: "account.yaml",
    content: yamlPod("account", [main("true"), "  serviceAccountName: x"]),
    told: "serviceAccountName",
  },
  {
    file: "secret.yaml",
    content: yamlPod("secret", [main("true"), "  volumes: [{name: s, secret: {secretName: token}}]"]),
    told: "secret",
  },
  { file: "binary.yaml", content: "\u0000\u0001\u0002PK\u0003", told: "binary.yaml" },
];

describe.each(["1.6", "2.1"] as const)("bad files beside good ones on containerd %s", (version) => {
  let node: NodeUnderTest;
  let steady: { id: string; uid: string };
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
    await node.agent.writeManifest("steady.yaml", podManifest("steady"));
    const pod = await node.waitForReady("steady");
    steady = { id: stateOf(pod)?.containerID ?? "", uid: pod.metadata?.uid ?? "" };
  });
  afterAll(() => node?.close());

  const path = (file: string): string => join(node.agent.dirs.manifests, file);

  /** A good file that comes now becomes a pod, and the one that was there before runs on. */
  const expectNeighboursToBeWell = async (name: string): Promise<void> => {
    await node.agent.writeManifest(`${name}.yaml`, podManifest(name));
    await node.waitForReady(name);
    const pod = await node.waitForReady("steady");
    expect(pod.metadata?.uid).toBe(steady.uid);
    expect(stateOf(pod)).toMatchObject({ restartCount: 0, containerID: steady.id });
    await node.agent.removeManifest(`${name}.yaml`);
    await node.waitForGone(name);
  };

  const podsInRuntime = async (): Promise<string[]> => (await node.sandboxes()).map(({ metadata }) => metadata.name);

  it("each is told with its name and the place of its fault, and harms nobody", async () => {
    for (const { file, content } of badFiles) await node.agent.writeManifest(file, content);
    for (const { file, told } of badFiles) {
      await node.waitFor({
        what: `the log to name ${told} for ${file}`,
        until: async () => {
          const lines = (await node.agent.log()).split("\n");
          return lines.some((line) => line.includes(path(file)) && line.includes(told));
        },
      });
    }
    await expectNeighboursToBeWell("beside-bad");
    expect(await podsInRuntime()).toEqual(["steady-n1"]);
    for (const { file } of badFiles) await node.agent.removeManifest(file);
  });

  it("half a pod is none, even when it could be one; the whole one runs", async () => {
    const half = yamlPod("grows", [main("exec sleep 3600")]);
    const handle = await open(path("grows.yaml"), "wx");
    try {
      // Longer than any step of one writer takes, each of them.
      for (let at = 0; at < half.length; at += Math.ceil(half.length / 5)) {
        await handle.write(half.slice(at, at + Math.ceil(half.length / 5)));
        await sleep(150);
        expect(await node.sandboxes("grows")).toEqual([]);
      }
      await handle.write("  hostNetwork: true\n");
    } finally {
      await handle.close();
    }
    const pod = await node.waitForReady("grows");
    expect(pod.spec?.hostNetwork).toBe(true);
    expect(await node.sandboxes("grows")).toHaveLength(1);
    await node.agent.removeManifest("grows.yaml");
    await expectNeighboursToBeWell("beside-growing");
    await node.waitForGone("grows");
  });

  it("a pod whose file is bad for a moment runs on, and goes with the file", async () => {
    await node.agent.writeManifest("spoilt.yaml", podManifest("spoilt"));
    const before = await node.waitForReady("spoilt");
    await node.agent.writeManifest("spoilt.yaml", "{");
    await expectNeighboursToBeWell("beside-spoilt");
    await node.agent.writeManifest("spoilt.yaml", podManifest("spoilt"));
    const after = await node.waitForReady("spoilt");
    expect(stateOf(after)).toMatchObject({ restartCount: 0, containerID: stateOf(before)?.containerID });
    expect(await node.sandboxes("spoilt")).toHaveLength(1);
    await node.agent.removeManifest("spoilt.yaml");
    await node.waitForGone("spoilt");
  });

  it("hidden files are left alone, and of two files for one pod the first by name counts", async () => {
    const twice = (word: string) =>
      podManifest("twice", { containers: [container("main", shell(`echo ${word}; exec sleep 3600`))] });
    await node.agent.writeManifest("twice.yaml", twice("first"));
    const before = await node.waitForReady("twice");
    await writeFile(path(".hidden.yaml"), JSON.stringify(podManifest("hidden")));
    await writeFile(path(".twice.yaml.swp"), Buffer.from([0, 1, 2, 3]));
    await node.agent.writeManifest("twice.yaml.bak", twice("second"));
    await expectNeighboursToBeWell("beside-twice");
    expect((await podsInRuntime()).sort()).toEqual(["steady-n1", "twice-n1"]);

    await node.agent.kill9();
    await node.agent.start();
    await expectNeighboursToBeWell("beside-twice-again");
    const after = await node.waitForReady("twice");
    expect(stateOf(after)).toMatchObject({ restartCount: 0, containerID: stateOf(before)?.containerID });
    const lines = await readContainerLog(containerLogPath(node.agent, { pod: after, container: "main" }));
    expect(lines.map(({ text }) => text)).toEqual(["first"]);
    for (const file of [".hidden.yaml", ".twice.yaml.swp", "twice.yaml.bak", "twice.yaml"]) await rm(path(file));
    await node.waitForGone("twice");
  });

  it("a boolean is what YAML 1.1 takes for one", async () => {
    await node.agent.writeManifest("bare.yaml", yamlPod("bare", ["  hostNetwork: yes", main("exec sleep 3600")]));
    await node.waitForReady("bare");
    const [sandbox] = await node.sandboxes("bare");
    const status = await node.cri.runtime.sandboxStatus({ sandboxId: sandbox?.id ?? "" });
    expect(status.namespaceOptions?.network).toBe("NODE");
    await node.agent.removeManifest("bare.yaml");
    await node.waitForGone("bare");
  });

  it("a directory that is moved away and back costs no pod its life, and is watched again", async () => {
    await rename(node.agent.dirs.manifests, `${node.agent.dirs.manifests}.away`);
    await rename(`${node.agent.dirs.manifests}.away`, node.agent.dirs.manifests);
    await expectNeighboursToBeWell("after-move");
  });
});
