import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listCgroupMounts } from "./containerd/cgroup-tree.ts";
import { listMountsBelow } from "./containerd/leftovers.ts";
import { type NodeRecord, readNodeRecord } from "./containerd/node-record.ts";
import { deviceExists } from "./containerd/pod-network.ts";
import {
  buildImageArchive,
  type ContainerdVersion,
  listLeftovers,
  type PreparedNode,
  prepareNode,
  reap,
  standardImages,
  startRegistry,
  useRuntime,
} from "./index.ts";
import { identifyProcess, isAlive } from "./processes.ts";
import { pullImage, readPodIp, removeRawPod, startRawPod } from "./raw-pod.test-support.ts";

const versions: readonly ContainerdVersion[] = ["1.6", "2.1"];
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "nodelet-dev-node-"));
});
afterAll(() => rm(scratch, { recursive: true }));

/** Everything a node may leave, looked up independently of the listing under test where that is cheap. */
async function expectNothingLeft(record: NodeRecord): Promise<void> {
  expect(await listLeftovers(record)).toEqual([]);
  expect(await listMountsBelow(record.dir)).toEqual([]);
  expect(await deviceExists(record.network.name)).toBe(false);
  await expect(readdir(record.dir)).rejects.toThrow("ENOENT");
  for (const mount of await listCgroupMounts()) {
    expect(await readdir(mount)).not.toContain(record.cgroupRoot);
  }
}

describe.each(versions)("a private containerd %s", (version) => {
  let node: PreparedNode;
  beforeAll(async () => {
    node = await prepareNode({ version, dir: join(scratch, `node-${version}`) });
  });
  afterAll(() => node.close());

  it("is of the version asked for, and idle has nothing of pods on the machine", async () => {
    expect(node.containerd.version).toMatch(version === "1.6" ? /^1\.6\./ : /^2\./);
    expect(await node.containerd.listLeftovers()).toEqual([]);
  });

  it("has the standard images", async () => {
    const { stdout } = await node.containerd.ctr(["-n", "k8s.io", "images", "ls", "-q"]);
    expect(stdout.split("\n")).toEqual(expect.arrayContaining(Object.values(standardImages)));
  });

  it("runs a container by ctr", async () => {
    const cgroup = `/${node.containerd.cgroupRoot}/ctr`;
    const run = [
      "-n",
      "k8s.io",
      "run",
      "--rm",
      "--snapshotter",
      node.containerd.snapshotter,
      "--cgroup",
      cgroup,
      "--fifo-dir",
      scratch,
    ];
    const { stdout } = await node.containerd.ctr([
      ...run,
      standardImages.busybox,
      "one",
      "/bin/sh",
      "-c",
      "echo $((6*7)); id -u",
    ]);
    expect(stdout).toBe("42\n0\n");
  });

  it("runs a pod whose page the machine reaches, and leaves nothing of it", async () => {
    const logDir = join(scratch, `logs-${version}`);
    const pod = await startRawPod(node.containerd, { uid: "u-1", image: standardImages.app, command: [], logDir });
    const ip = await readPodIp(node.containerd, pod);
    const get = async (): Promise<string> => (await fetch(`http://${ip}:8080/`)).text().catch(String);
    await expect.poll(() => get().catch(String)).toContain("hello from a pod");
    const kinds = new Set((await node.containerd.listLeftovers({ uid: "u-1" })).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(["cgroup"]));
    await removeRawPod(node.containerd, pod);
    // Containers' cgroups are runc's; the pod's own is the agent's, which here is us: the node's teardown takes it.
    const left = (await node.containerd.listLeftovers()).filter(({ kind }) => kind !== "cgroup");
    expect(left).toEqual([]);
  });

  it("ends a sandbox at once: its process 1 obeys SIGTERM and collects orphans", async () => {
    const logDir = join(scratch, `logs-${version}`);
    const pod = await startRawPod(node.containerd, {
      uid: "u-2",
      image: standardImages.busybox,
      command: ["true"],
      logDir,
    });
    const start = performance.now();
    await removeRawPod(node.containerd, pod);
    // A sandbox process that ignores SIGTERM costs containerd its 10 s stop timeout.
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("is used as somebody else's runtime: only what was missing is imported, and removed at the end", async () => {
    const list = async (): Promise<string[]> =>
      (await node.containerd.ctr(["-n", "k8s.io", "images", "ls", "-q"])).stdout.split("\n").filter(Boolean).sort();
    const before = await list();
    await node.containerd.ctr(["-n", "k8s.io", "images", "rm", standardImages.app]);
    const without = await list();
    const used = await useRuntime({ endpoint: node.endpoint });
    expect(await list()).toEqual(before);
    await used.close();
    expect((await list()).filter((name) => !name.startsWith("sha256:"))).toEqual(
      without.filter((name) => !name.startsWith("sha256:")),
    );
    const archive = join(node.containerd.dir, "images.tar");
    await node.containerd.importImages(archive, [standardImages.app]);
  });

  it("pulls from a registry of ours: with and without credentials, and what is not there", async () => {
    const layer = [{ path: "hello", mode: 0o644, data: Buffer.from(version) }];
    const spec = { arch: process.arch === "arm64" ? "arm64" : "x64", config: {}, layers: [layer] } as const;
    const archive = buildImageArchive([{ ...spec, names: ["localhost/team/hello:1"] }]);
    const credentials = { username: "user", password: "pass word" };
    const open = await startRegistry({ archive });
    const closed = await startRegistry({ archive, credentials });
    try {
      const id = archive.images[0]?.id;
      const { containerd } = node;
      expect(await pullImage(containerd, { name: `${open.host}/team/hello:1` })).toBe(id);
      expect(open.requests).toContain("HEAD /v2/team/hello/manifests/1 200");
      await expect(pullImage(containerd, { name: `${open.host}/team/hello:2` })).rejects.toThrow(/not found/);
      await expect(pullImage(containerd, { name: `${closed.host}/team/hello:1` })).rejects.toThrow(/401|authoriz/i);
      expect(await pullImage(containerd, { name: `${closed.host}/team/hello:1`, auth: credentials })).toBe(id);
    } finally {
      await Promise.all([open.close(), closed.close()]);
    }
  });

  it("goes on with its pods after kill -9 and restart", async () => {
    const logDir = join(scratch, `logs-restart-${version}`);
    const command = ["sh", "-c", "echo started >&2; exec sleep 1000"];
    const pod = await startRawPod(node.containerd, { uid: "u-3", image: standardImages.busybox, command, logDir });
    const before = node.containerd.pid;
    await node.containerd.kill("SIGKILL");
    expect(node.containerd.pid).toBeUndefined();
    await node.containerd.restart();
    expect(node.containerd.pid).not.toBe(before);
    expect(await readPodIp(node.containerd, pod)).toMatch(/^10\./);
    await removeRawPod(node.containerd, pod);
    expect(await readFile(pod.logPath, "utf8")).toContain("stderr F started\n");
  });
});

describe("taking a node down", () => {
  it.each(versions)("removes running pods, paused ones too (%s)", async (version) => {
    const node = await prepareNode({ version, dir: join(scratch, `down-${version}`) });
    const { record } = node.containerd;
    const pod = { image: standardImages.busybox, command: ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"] };
    const logDir = join(scratch, `down-logs-${version}`);
    await startRawPod(node.containerd, { ...pod, uid: "a", logDir });
    const frozen = await startRawPod(node.containerd, { ...pod, uid: "b", logDir });
    await node.containerd.ctr(["-n", "k8s.io", "tasks", "pause", frozen.containerId]);
    // Without a cgroup parent runc puts the container below /k8s.io.
    await startRawPod(node.containerd, { ...pod, uid: "c", logDir, cgroupParent: "" });
    await node.close();
    await node.close();
    await expectNothingLeft(record);
  });

  it.each(versions)("happens by itself after kill -9 of the owner (%s)", async (version) => {
    const dir = join(scratch, `killed-${version}`);
    const main = fileURLToPath(new URL("./main.ts", import.meta.url));
    const owner = spawn(process.execPath, [main, "up", "--version", version, "--dir", dir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [endpoint] = (await once(owner.stdout, "data")) as [Buffer];
    expect(endpoint.toString().trim()).toBe(`unix://${dir}/c.sock`);
    const record = await readNodeRecord(dir);
    if (record?.containerd === undefined) {
      throw new Error(`no record of a running node in ${dir}`);
    }
    expect(await isAlive(record.containerd)).toBe(true);
    owner.kill("SIGKILL");
    await once(owner, "exit");
    await expect.poll(() => readNodeRecord(dir), { timeout: 20_000 }).toBeUndefined();
    await expectNothingLeft(record);
  });

  it("reaps what is left when the guardian died too, and refuses while the owner lives", async () => {
    const node = await prepareNode({ version: "2.1", dir: join(scratch, "reap") });
    const { record } = node.containerd;
    await startRawPod(node.containerd, {
      uid: "r",
      image: standardImages.busybox,
      command: ["sleep", "1000"],
      logDir: scratch,
    });
    await expect(reap(record.dir)).rejects.toMatchObject({ kind: "inUse" });
    // As if this process had died: a record with an owner that is gone.
    const dead = { ...record, owner: { pid: record.owner.pid, startTicks: "1" } };
    await writeFile(join(record.dir, "node.json"), JSON.stringify(dead));
    expect(await reap(record.dir)).toBe(true);
    expect(await reap(record.dir)).toBe(false);
    await expectNothingLeft(record);
    await node.close();
  });

  it("leaves a second node beside it alone", async () => {
    const [one, two] = await Promise.all([
      prepareNode({ version: "1.6", dir: join(scratch, "one") }),
      prepareNode({ version: "2.1", dir: join(scratch, "two") }),
    ]);
    const pod = { image: standardImages.busybox, command: ["sleep", "1000"], logDir: join(scratch, "two-logs") };
    await startRawPod(one.containerd, { ...pod, uid: "x" });
    const kept = await startRawPod(two.containerd, { ...pod, uid: "x" });
    const before = await two.containerd.listLeftovers();
    await one.close();
    await sleep(100);
    expect(await two.containerd.listLeftovers()).toEqual(before);
    expect(await readPodIp(two.containerd, kept)).toMatch(/^10\./);
    await expectNothingLeft(one.containerd.record);
    await two.close();
    await expectNothingLeft(two.containerd.record);
  });

  it.each([
    ["tcp://127.0.0.1:1", /expected unix:\/\//],
    ["unix:///nonexistent/c.sock", /ENOENT/],
  ])("says that there is no runtime at %s", async (endpoint, message) => {
    await expect(useRuntime({ endpoint })).rejects.toThrow(message);
  });

  it("refuses a directory that holds other things", async () => {
    await expect(prepareNode({ dir: scratch })).rejects.toMatchObject({ kind: "inUse" });
    expect(await identifyProcess(process.pid)).toBeDefined();
  });
});
