import { expect, it } from "vitest";
import { newRuntime, startedContainer } from "../runtime/runtime.test-support.ts";
import { InMemoryContainerLogs } from "./in-memory-container-logs.ts";
import { InMemoryHostFiles } from "./in-memory-host-files.ts";

it("keeps logs in CRI format, with nine digits of a second", () => {
  const files = new InMemoryHostFiles();
  const path = "/var/log/pods/a/0.log";
  files.openLog({ path });
  // 2026-01-02T03:04:05Z is 1767323045 seconds after 1970.
  files.writeLog({ path, atNs: 1_767_323_045_000_000_042n, stream: "stderr", text: "one two" });
  files.openLog({ path });
  expect(files.read(path)).toBe("2026-01-02T03:04:05.000000042Z stderr F one two\n");
});

it("lets what a container logs be found by the container logs", async () => {
  const files = new InMemoryHostFiles();
  const { clock, runtime } = newRuntime({ output: files });
  const logs = new InMemoryContainerLogs({ files });
  await startedContainer(runtime, { attempt: 4, command: ["sh", "-c", "echo one; sleep 1; echo two"] });
  await clock.advance(1_000);
  const container = { podUid: "uid-web", podName: "web", podNamespace: "default", containerName: "app" };
  expect(await logs.highestAttempt(container)).toBe(4);
  const logPath = "/var/log/pods/default_web_uid-web/app/4.log";
  expect(await logs.readTail({ logPath, maxLines: 80, maxBytes: 2_048 })).toBe("one\ntwo\n");
});

it("lists all paths, so that a test sees what was left", () => {
  const files = new InMemoryHostFiles();
  files.write({ path: "/a/b/file", content: "x" });
  files.link({ path: "/a/link", target: "/nowhere" });
  files.makeDirectory("/a/empty");
  expect(files.paths()).toEqual(["/a/b/file", "/a/empty", "/a/link"]);
  expect(files.paths("/a/b")).toEqual(["/a/b/file"]);
  files.remove("/a");
  expect(files.paths()).toEqual(["/"]);
});
