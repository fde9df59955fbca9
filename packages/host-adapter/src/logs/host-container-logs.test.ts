import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makePipe, scratchFolders } from "../scratch.test-support.ts";
import { HostContainerLogs } from "./host-container-logs.ts";

const scratch = scratchFolders();
const ref = { podUid: "uid-1", podName: "web", podNamespace: "default", containerName: "app" };
let podLogsDir: string;
let containerLinksDir: string;
let directory: string;
let logs: HostContainerLogs;

beforeEach(() => {
  const base = scratch();
  podLogsDir = join(base, "pods");
  containerLinksDir = join(base, "containers");
  directory = join(podLogsDir, "default_web_uid-1/app");
  mkdirSync(directory, { recursive: true });
  mkdirSync(containerLinksDir);
  logs = new HostContainerLogs({ podLogsDir, containerLinksDir });
});

const touch = (...names: string[]) => names.forEach((name) => writeFileSync(join(directory, name), ""));

describe("attempts", () => {
  it.each([
    [[], undefined],
    [["0.log"], 0],
    [["0.log", "9.log", "10.log"], 10],
    [["2.log", "3.log.20260102-030405"], 3],
    [["2.log", "4.log.20260102-030405.gz", "5.log.20260102-030405.tmp"], 5],
    [["1.log", "x.log", "7.logs", "8", "-9.log", "12345678901.log"], 1],
  ])("of %j is %s", async (names, expected) => {
    touch(...names);
    expect(await logs.highestAttempt(ref)).toBe(expected);
  });

  it("of a container without a directory is undefined", async () => {
    expect(await logs.highestAttempt({ ...ref, containerName: "other" })).toBeUndefined();
    await expect(logs.highestAttempt({ ...ref, containerName: "../x" })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("are removed with what was rotated of them, and no other", async () => {
    touch("1.log", "1.log.20260102-030405", "1.log.20260102-030405.gz", "11.log", "2.log");
    await logs.removeAttemptLogs({ ...ref, attempt: 1 });
    await logs.removeAttemptLogs({ ...ref, attempt: 1 });
    await logs.removeAttemptLogs({ ...ref, containerName: "other", attempt: 1 });
    expect(readdirSync(directory)).toEqual(["11.log", "2.log"]);
  });
});

describe("links", () => {
  const linkName = "web_default_app-0123abcd.log";
  const link = (logPath = join(directory, "0.log")) => logs.link({ linkName, logPath });

  it("are made when the log exists, replaced when stale, left alone when right", async () => {
    await link();
    expect(readdirSync(containerLinksDir)).toEqual([]);
    touch("0.log", "1.log");
    await link();
    expect(readlinkSync(join(containerLinksDir, linkName))).toBe(join(directory, "0.log"));
    const inode = lstatSync(join(containerLinksDir, linkName)).ino;
    await link();
    expect(lstatSync(join(containerLinksDir, linkName)).ino).toBe(inode);
    await link(join(directory, "1.log"));
    expect(readlinkSync(join(containerLinksDir, linkName))).toBe(join(directory, "1.log"));
    expect(readdirSync(containerLinksDir)).toEqual([linkName]);
  });

  it.each(["/etc/passwd", "relative.log", "/"])("never lead out of the log directory: %s", async (path) => {
    await expect(link(path)).rejects.toMatchObject({ kind: "invalid" });
    await expect(link(`${podLogsDir}/../x`)).rejects.toMatchObject({ kind: "invalid" });
  });

  it.each(["../x.log", "a/b.log", "", `${"x".repeat(252)}.log`])("have plain names, not %j", async (name) => {
    touch("0.log");
    await expect(logs.link({ linkName: name, logPath: join(directory, "0.log") })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("replace nothing that is no link", async () => {
    touch("0.log");
    writeFileSync(join(containerLinksDir, linkName), "somebody's file");
    await expect(link()).rejects.toMatchObject({ kind: "conflict" });
    await expect(logs.unlink({ linkName })).rejects.toMatchObject({ kind: "conflict" });
    expect(existsSync(join(containerLinksDir, linkName))).toBe(true);
  });

  it("are removed one by one, twice", async () => {
    touch("0.log");
    await link();
    await logs.unlink({ linkName });
    await logs.unlink({ linkName });
    expect(readdirSync(containerLinksDir)).toEqual([]);
  });

  it("that dangle are removed unless the container lives, and only those into this log directory", async () => {
    touch("0.log");
    const at = (name: string) => join(containerLinksDir, name);
    symlinkSync(join(directory, "0.log"), at("a_b_c-alive.log"));
    symlinkSync(join(directory, "7.log"), at("a_b_c-gone.log"));
    symlinkSync(join(directory, "8.log"), at("a_b_c-kept.log"));
    symlinkSync("/other/agent/9.log", at("a_b_c-foreign.log"));
    symlinkSync(join(directory, "9.log"), at("unnamed"));
    writeFileSync(at("a_b_c-file.log"), "");
    const asked: string[] = [];
    const removed = await logs.removeDanglingLinks({ keep: (id) => asked.push(id) > 0 && id === "kept" });
    expect(removed).toBe(1);
    expect(asked.sort()).toEqual(["alive", "foreign", "gone", "kept"]);
    expect(readdirSync(containerLinksDir).sort()).toEqual(
      ["a_b_c-alive.log", "a_b_c-file.log", "a_b_c-foreign.log", "a_b_c-kept.log", "unnamed"].sort(),
    );
    rmSync(containerLinksDir, { recursive: true });
    expect(await logs.removeDanglingLinks({ keep: () => false })).toBe(0);
  });
});

describe("pod log directories", () => {
  it("are listed by their names, and removed", async () => {
    mkdirSync(join(podLogsDir, "kube-system_etcd-n1_0123"));
    for (const name of ["odd", "a_b", "a_b_c_d", "_b_c"]) mkdirSync(join(podLogsDir, name));
    writeFileSync(join(podLogsDir, "a_b_file"), "");
    symlinkSync(directory, join(podLogsDir, "a_b_link"));
    const expected = [
      { podNamespace: "default", podName: "web", podUid: "uid-1" },
      { podNamespace: "kube-system", podName: "etcd-n1", podUid: "0123" },
    ];
    expect([...(await logs.listPodLogs())].sort((a, b) => (a.podUid > b.podUid ? -1 : 1))).toEqual(expected);
    touch("0.log");
    await logs.removePodLogs(ref);
    await logs.removePodLogs(ref);
    expect(existsSync(join(podLogsDir, "default_web_uid-1"))).toBe(false);
    expect(await new HostContainerLogs({ podLogsDir: join(podLogsDir, "none") }).listPodLogs()).toEqual([]);
  });
});

describe("readTail", () => {
  const tail = (name: string, maxLines = 80, maxBytes = 2048) =>
    logs.readTail({ logPath: join(directory, name), maxLines, maxBytes });

  it("reads records, and nothing where nothing is", async () => {
    writeFileSync(join(directory, "0.log"), "2026-01-02T03:04:05.6Z stdout F hello\n");
    expect(await tail("0.log")).toBe("hello\n");
    expect(await tail("1.log")).toBe("");
  });

  it("refuses paths outside, links and pipes", async () => {
    symlinkSync("/etc/passwd", join(directory, "0.log"));
    makePipe(join(directory, "1.log"));
    await expect(tail("0.log")).rejects.toMatchObject({ kind: "invalid" });
    await expect(tail("1.log")).rejects.toMatchObject({ kind: "invalid" });
    const outside = { logPath: "/etc/passwd", maxLines: 1, maxBytes: 10 };
    await expect(logs.readTail(outside)).rejects.toMatchObject({ kind: "invalid" });
  });
});
