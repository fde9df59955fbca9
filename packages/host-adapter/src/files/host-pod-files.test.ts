import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isErrorOfKind } from "@nodelet/core";
import { beforeEach, describe, expect, it } from "vitest";
import { makePipe, scratchFolders } from "../scratch.test-support.ts";
import { HostPodFiles } from "./host-pod-files.ts";
import { prepareHostDirectories } from "./prepare-directories.ts";

const scratch = scratchFolders();
const pod = { podUid: "uid-1", podName: "web", podNamespace: "default" };
let base: string;
let rootDir: string;
let podLogsDir: string;
let files: HostPodFiles;

beforeEach(async () => {
  base = scratch();
  rootDir = join(base, "root");
  podLogsDir = join(base, "logs/pods");
  await prepareHostDirectories({ rootDir, podLogsDir, containerLinksDir: join(base, "logs/containers") });
  files = new HostPodFiles({ rootDir, podLogsDir });
});

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const podDir = () => join(rootDir, "pods/uid-1");

describe("layout and modes", () => {
  it("makes the root, its children and the log directories as the kubelet does", () => {
    expect(mode(rootDir)).toBe("750");
    for (const name of ["pods", "plugins", "plugins_registry", "pod-resources"])
      expect(mode(join(rootDir, name))).toBe("750");
    expect(mode(podLogsDir)).toBe("750");
    expect(mode(join(base, "logs/containers"))).toBe("755");
  });

  it("makes pod and container directories, again and again", async () => {
    for (let round = 0; round < 2; round += 1) {
      await files.ensurePod(pod);
      await files.ensureContainer({ ...pod, containerName: "app" });
    }
    for (const name of ["", "volumes", "plugins", "containers", "containers/app"]) {
      expect(mode(join(podDir(), name))).toBe("750");
    }
    expect(mode(join(podLogsDir, "default_web_uid-1"))).toBe("755");
    expect(mode(join(podLogsDir, "default_web_uid-1/app"))).toBe("755");
    expect(await files.listPods()).toEqual(["uid-1"]);
  });

  it("makes a fresh termination log each time that any user may write", async () => {
    const first = await files.createTerminationLog({ podUid: "uid-1", containerName: "app" });
    const second = await files.createTerminationLog({ podUid: "uid-1", containerName: "app" });
    expect(first).toMatch(new RegExp(`^${podDir()}/containers/app/[0-9a-f]{8}$`));
    expect(second).not.toBe(first);
    expect(mode(first)).toBe("666");
  });

  it("rewrites etc-hosts in the same inode, which containers have mounted", async () => {
    const path = await files.writeEtcHosts({ podUid: "uid-1", content: "a longer first content\n" });
    const inode = statSync(path).ino;
    expect(await files.writeEtcHosts({ podUid: "uid-1", content: "second\n" })).toBe(join(podDir(), "etc-hosts"));
    expect(readFileSync(path, "utf8")).toBe("second\n");
    expect(statSync(path).ino).toBe(inode);
    expect(mode(path)).toBe("644");
  });
});

describe("hostile names and entries", () => {
  it.each(["..", ".", "", "a/b", "../../etc", "a\0b", "x".repeat(256)])(
    "refuses %j wherever a name is taken",
    async (name) => {
      const invalid = expect.objectContaining({ kind: "invalid" });
      await expect(files.ensurePod({ ...pod, podUid: name })).rejects.toEqual(invalid);
      await expect(files.ensureContainer({ ...pod, containerName: name })).rejects.toEqual(invalid);
      await expect(files.createTerminationLog({ podUid: name, containerName: "app" })).rejects.toEqual(invalid);
      await expect(files.writeEtcHosts({ podUid: name, content: "" })).rejects.toEqual(invalid);
      await expect(files.removePod({ podUid: name })).rejects.toEqual(invalid);
      expect(readdirSync(join(rootDir, "pods"))).toEqual([]);
      expect(readdirSync(base)).toEqual(["logs", "root"]);
    },
  );

  it("refuses a pod name that would leave the log directory", async () => {
    await expect(files.ensurePod({ ...pod, podName: "../../x" })).rejects.toMatchObject({ kind: "invalid" });
    expect(readdirSync(podLogsDir)).toEqual([]);
  });

  it("does not go through a link in place of a pod's directory", async () => {
    const outside = scratch();
    symlinkSync(outside, podDir());
    await expect(files.ensurePod(pod)).rejects.toMatchObject({ kind: "invalid" });
    await expect(files.writeEtcHosts({ podUid: "uid-1", content: "x" })).rejects.toMatchObject({ kind: "invalid" });
    expect(await files.listPods()).toEqual([]);
    expect(readdirSync(outside)).toEqual([]);
  });

  it("does not write through a link or into a pipe in place of etc-hosts", async () => {
    await files.ensurePod(pod);
    const victim = join(base, "victim");
    writeFileSync(victim, "untouched");
    symlinkSync(victim, join(podDir(), "etc-hosts"));
    await expect(files.writeEtcHosts({ podUid: "uid-1", content: "x" })).rejects.toMatchObject({ kind: "invalid" });
    expect(readFileSync(victim, "utf8")).toBe("untouched");
    execFileSync("rm", [join(podDir(), "etc-hosts")]);
    makePipe(join(podDir(), "etc-hosts"));
    await expect(files.writeEtcHosts({ podUid: "uid-1", content: "x" })).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("readTerminationLog", () => {
  const read = (hostPath: string, maxBytes = 4096) => files.readTerminationLog({ podUid: "uid-1", hostPath, maxBytes });

  it("reads the end, and nothing where nothing is", async () => {
    const path = await files.createTerminationLog({ podUid: "uid-1", containerName: "app" });
    expect(await read(path)).toBe("");
    writeFileSync(path, "0123456789");
    expect(await read(path, 4)).toBe("6789");
    expect(await read(join(podDir(), "containers/app/none"))).toBe("");
    expect(await read(join(podDir(), "containers/none/none"))).toBe("");
  });

  it("cuts between characters and marks bytes that are no text", async () => {
    const path = await files.createTerminationLog({ podUid: "uid-1", containerName: "app" });
    writeFileSync(path, "aé");
    expect(await read(path, 2)).toBe("é");
    expect(await read(path, 1)).toBe("");
    writeFileSync(path, Buffer.from([0x61, 0xff, 0x62]));
    expect(await read(path)).toBe("a\ufffdb");
  });

  it("reads only the end of a giant", async () => {
    const path = await files.createTerminationLog({ podUid: "uid-1", containerName: "app" });
    truncateSync(path, 10 * 2 ** 30);
    expect(await read(path, 4)).toBe("\0\0\0\0");
    expect(await read(path, 2 ** 40)).toHaveLength(1024 * 1024);
  });

  it.each([
    ["another pod's", () => join(rootDir, "pods/uid-2/containers/app/0a0a0a0a")],
    ["a path that climbs out", () => join(rootDir, "pods/uid-1") + "/../uid-2/x"],
    ["any file", () => "/etc/passwd"],
  ])("refuses %s", async (_, path) => {
    await expect(read(path())).rejects.toMatchObject({ kind: "invalid" });
  });

  it("neither follows a link nor blocks on a pipe in its place", async () => {
    await files.ensureContainer({ ...pod, containerName: "app" });
    symlinkSync("/etc/passwd", join(podDir(), "containers/app/link"));
    makePipe(join(podDir(), "containers/app/pipe"));
    await expect(read(join(podDir(), "containers/app/link"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(read(join(podDir(), "containers/app/pipe"))).rejects.toMatchObject({ kind: "invalid" });
  });
});

describe("removePod", () => {
  it("removes the directory, twice, and leaves the logs", async () => {
    await files.ensurePod(pod);
    await files.ensureContainer({ ...pod, containerName: "app" });
    await files.writeEtcHosts({ podUid: "uid-1", content: "x" });
    await files.removePod({ podUid: "uid-1" });
    await files.removePod({ podUid: "uid-1" });
    expect(await files.listPods()).toEqual([]);
    expect(existsSync(join(podLogsDir, "default_web_uid-1"))).toBe(true);
  });

  it("removes empty volume directories and refuses to remove data", async () => {
    const volume = join(podDir(), "volumes/kubernetes.io~empty-dir/cache");
    mkdirSync(volume, { recursive: true });
    writeFileSync(join(volume, "data"), "precious");
    const refused = await files.removePod({ podUid: "uid-1" }).catch((error: unknown) => error);
    expect(isErrorOfKind(refused, "conflict")).toBe(true);
    expect(readFileSync(join(volume, "data"), "utf8")).toBe("precious");
    execFileSync("rm", [join(volume, "data")]);
    await files.removePod({ podUid: "uid-1" });
    expect(await files.listPods()).toEqual([]);
  });

  it.each([
    ["a tmpfs", (target: string) => ["-t", "tmpfs", "tmpfs", target]],
    ["a bind mount", (target: string) => ["--bind", join(base, "data"), target]],
  ])("refuses while %s is mounted under it, and touches nothing of it", async (_, mountArgs) => {
    mkdirSync(join(base, "data"));
    writeFileSync(join(base, "data/sentinel"), "alive");
    const target = join(podDir(), "volumes/kubernetes.io~nfs/v");
    mkdirSync(target, { recursive: true });
    execFileSync("mount", mountArgs(target));
    try {
      await expect(files.removePod({ podUid: "uid-1" })).rejects.toMatchObject({ kind: "conflict" });
      await expect(files.removePod({ podUid: "uid-1" })).rejects.toThrow(
        /1 volume paths are still mounted, for example .*nfs\/v/,
      );
    } finally {
      execFileSync("umount", [target]);
    }
    expect(readFileSync(join(base, "data/sentinel"), "utf8")).toBe("alive");
    await files.removePod({ podUid: "uid-1" });
    expect(existsSync(podDir())).toBe(false);
  });

  it("sees mounts through a root directory that is a link", async () => {
    const target = join(podDir(), "containers");
    mkdirSync(target, { recursive: true });
    symlinkSync(rootDir, join(base, "alias"));
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", target]);
    try {
      const linked = new HostPodFiles({ rootDir: join(base, "alias"), podLogsDir });
      await expect(linked.removePod({ podUid: "uid-1" })).rejects.toMatchObject({ kind: "conflict" });
    } finally {
      execFileSync("umount", [target]);
    }
  });
});

it("does nothing when cancelled, and says so", async () => {
  await expect(files.ensurePod({ ...pod, signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: "cancelled" });
  expect(await files.listPods()).toEqual([]);
});

it("says what is missing when the root directory is gone", async () => {
  const gone = new HostPodFiles({ rootDir: join(base, "gone"), podLogsDir });
  expect(await gone.listPods()).toEqual([]);
  await expect(gone.ensurePod(pod)).rejects.toMatchObject({
    kind: "notFound",
    message: "cannot make the directories of pod uid-1: no such file or directory (ENOENT)",
  });
});
