import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, readlink, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { cgroupTrees } from "./harness/cgroups.ts";
import { podManifest } from "./harness/manifests.ts";
import { NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

const run = promisify(execFile);

describe.each(["1.6", "2.1"] as const)("whose pods and folders are whose, on containerd %s", (version) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
  });
  afterAll(() => node?.close());
  beforeEach(async () => {
    if (node.agent.pid === undefined) await node.agent.start();
  });

  const add = (name: string): Promise<void> => node.agent.writeManifest(`${name}.yaml`, podManifest(name));
  const remove = (name: string): Promise<void> => node.agent.removeManifest(`${name}.yaml`);

  it("a second agent on the same runtime, or on the same root directory, is refused and says who is there", async () => {
    const other = node.addAgent({ name: "b" });
    await other.spawn();
    expect(await other.ended()).toBe("exit code 1");
    expect(await other.log()).toMatch(
      new RegExp(
        `the runtime ${node.containerd.endpoint} is in use by another agent: node n1, process ${node.agent.pid}`,
      ),
    );
    const same = node.addAgent({ name: "a" });
    await same.spawn();
    expect(await same.ended()).toBe("exit code 1");
    expect(await same.logTail(5)).toContain(`the root directory ${node.agent.dirs.root} is in use by another agent`);
    await add("unharmed");
    await node.waitForReady("unharmed");
    await remove("unharmed");
    await node.waitForGone("unharmed");
  });

  it("pods of another root directory are left alone and reported, and adopted when that is asked for", async () => {
    for (const name of ["wanted", "unwanted"]) await add(name);
    const before = { wanted: await node.waitForReady("wanted"), unwanted: await node.waitForReady("unwanted") };
    await node.agent.sigterm();
    const other = node.addAgent({ name: "other" });
    await other.start();
    await other.writeManifest("own.yaml", podManifest("own"));
    await node.waitForReady("own", { agent: other });
    await node.waitFor({
      what: "the other agent to report both pods",
      until: async () => (await other.decisions()).filter(({ reason }) => reason === "ForeignPod").length >= 2,
    });
    await other.removeManifest("own.yaml");
    await node.waitForGone("own", { agent: other });
    const foreign = await node.containers();
    expect(foreign.map(({ id, state }) => `containerd://${id} ${state}`).sort()).toEqual(
      Object.values(before)
        .map((pod) => `${stateOf(pod)?.containerID} CONTAINER_RUNNING`)
        .sort(),
    );
    expect(await other.pods()).toEqual([]);

    await other.sigterm();
    await other.writeManifest("wanted.yaml", podManifest("wanted"));
    await other.start(["--take-over"]);
    const adopted = await node.waitForReady("wanted", { agent: other });
    expect(adopted.metadata?.uid).toBe(before.wanted.metadata?.uid);
    expect(stateOf(adopted)).toMatchObject({ containerID: stateOf(before.wanted)?.containerID, restartCount: 0 });
    await node.waitForGone("unwanted", { agent: other });

    await other.sigterm();
    await other.start();
    expect(stateOf(await node.waitForReady("wanted", { agent: other }))?.containerID).toBe(
      stateOf(before.wanted)?.containerID,
    );
    await other.removeManifest("wanted.yaml");
    await node.waitFor({ what: "the adopted pod to go", until: async () => (await node.sandboxes()).length === 0 });
    await other.sigterm();
    for (const name of ["wanted", "unwanted"]) await remove(name);
    await node.agent.start();
    await node.waitForNothingLeft();
  });

  it("what pods of an earlier life left is removed, what is not ours or still mounted is kept", async () => {
    const { root, logs, links } = node.agent.dirs;
    const gone = ["0", "1", "2"].map((digit) => digit.repeat(32));
    const mounted = "e".repeat(32);
    const [empty = "", used = "", logged = ""] = gone;
    await node.agent.kill9();
    await mkdir(join(root, "pods", empty), { recursive: true });
    await mkdir(join(root, "pods", used, "containers/main"), { recursive: true });
    await writeFile(join(root, "pods", used, "etc-hosts"), "127.0.0.1 localhost\n");
    await mkdir(join(logs, `default_old-n1_${logged}`, "main"), { recursive: true });
    await writeFile(join(logs, `default_old-n1_${logged}`, "main/0.log"), "");
    const link = (id: string): string => join(links, `old-n1_default_main-${id.repeat(64)}.log`);
    await symlink(join(logs, `default_older-n1_${used}/main/0.log`), link("a"));
    await symlink("/nowhere/of/ours.log", link("b"));
    await writeFile(link("c"), "no link");
    const cgroups = (await cgroupTrees()).map(({ path }) =>
      join(path, node.containerd.cgroupRoot, "kubepods/besteffort"),
    );
    for (const path of cgroups) for (const uid of [`pod${used}`, "other"]) await mkdir(join(path, uid));

    const precious = join(root, "..", "precious");
    const volume = join(root, "pods", mounted, "volumes/kubernetes.io~local-volume/data");
    const memory = join(root, "pods", mounted, "volumes/kubernetes.io~empty-dir/memory");
    await mkdir(precious);
    await writeFile(join(precious, "sentinel"), "kept");
    for (const path of [volume, memory]) await mkdir(path, { recursive: true });
    await run("mount", ["--bind", precious, volume]);
    await run("mount", ["-t", "tmpfs", "-o", "size=64k", "none", memory]);
    await writeFile(join(memory, "sentinel"), "kept");
    try {
      await node.agent.start();
      await node.waitFor({
        what: "what is left of pods that are gone to be removed",
        until: async () => {
          const left = (await node.leftovers()).filter((what) => gone.some((uid) => what.includes(uid)));
          if (left.length > 0) throw new Error(left.join("\n"));
          return (await readdir(join(root, "pods"))).join() === mounted;
        },
      });
      expect((await readdir(links)).sort()).toEqual([link("b"), link("c")].map((path) => path.slice(links.length + 1)));
      expect(await readlink(link("b"))).toBe("/nowhere/of/ours.log");
      for (const path of cgroups) expect(await readdir(path)).toContain("other");
      expect(await readFile(join(precious, "sentinel"), "utf8")).toBe("kept");
      expect(await readFile(join(memory, "sentinel"), "utf8")).toBe("kept");
      const told = (await node.agent.log()).split("\n").filter((line) => line.includes("still mounted"));
      expect(told).toHaveLength(1);
    } finally {
      await run("umount", [volume]);
      await run("umount", [memory]);
    }
    await rmdir(memory);
    await node.agent.kill9();
    await node.agent.start();
    await node.waitFor({
      what: "the folder to go once nothing is mounted in it",
      until: async () => (await readdir(join(root, "pods"))).length === 0,
    });
    expect(await readFile(join(precious, "sentinel"), "utf8")).toBe("kept");
    for (const path of [link("b"), link("c"), precious]) await rm(path, { recursive: true });
    for (const path of cgroups) await rmdir(join(path, "other"));
    await node.waitForNothingLeft();
  });
});
