import type { ContainerLogs, PodFilesRef } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A ContainerLogs, and a look at the file system behind it. Its directories are empty at first. */
export interface ContainerLogsFixture extends ContractFixture {
  readonly logs: ContainerLogs;
  readonly podLogsDir: string;
  /** The directory of the links. */
  readonly linksDir: string;
  /** Writes a file, making its directories. */
  readonly writeFile: (file: { readonly path: string; readonly content: string }) => Promise<void>;
  readonly exists: (path: string) => Promise<boolean>;
  /** Target of a symbolic link; undefined when there is none. */
  readonly readLink: (path: string) => Promise<string | undefined>;
}

type ContainerRef = PodFilesRef & { readonly containerName: string };

let podCount = 0;

function newContainer(): ContainerRef {
  podCount += 1;
  return { podUid: `logs-${podCount}`, podName: `pod-${podCount}`, podNamespace: "contract", containerName: "app" };
}

const podDirectory = (fixture: ContainerLogsFixture, ref: PodFilesRef) =>
  `${fixture.podLogsDir}/${ref.podNamespace}_${ref.podName}_${ref.podUid}`;

/** Writes the log file of that name of a container and answers its path. */
async function writeLog(
  fixture: ContainerLogsFixture,
  ref: ContainerRef,
  file: { readonly name: string; readonly content?: string },
): Promise<string> {
  const path = `${podDirectory(fixture, ref)}/${ref.containerName}/${file.name}`;
  await fixture.writeFile({ path, content: file.content ?? "" });
  return path;
}

/** What every ContainerLogs must do. */
export function describeContainerLogsContract(options: ContractOptions<ContainerLogsFixture>): void {
  describeContract("ContainerLogs contract", options, (test) => {
    defineAttemptTests(test);
    defineLinkTests(test);
    defineTailTests(test);
  });
}

function defineAttemptTests(test: ContractTest<ContainerLogsFixture>): void {
  test("the highest attempt counts rotated logs and compares as numbers", async (fixture) => {
    const container = newContainer();
    expect(await fixture.logs.highestAttempt(container)).toBeUndefined();
    for (const name of ["2.log", "9.log", "10.log.20260102-030405.gz", "notes.txt", "x.log"]) {
      await writeLog(fixture, container, { name });
    }
    expect(await fixture.logs.highestAttempt(container)).toBe(10);
  });

  test("removing an attempt's logs removes the rotated ones and no other attempt's", async (fixture) => {
    const container = newContainer();
    const names = ["1.log", "1.log.20260102-030405", "1.log.20260102-030405.gz", "11.log", "2.log"];
    const paths: string[] = [];
    for (const name of names) paths.push(await writeLog(fixture, container, { name }));
    await fixture.logs.removeAttemptLogs({ ...container, attempt: 1 });
    await fixture.logs.removeAttemptLogs({ ...container, attempt: 1 });
    expect(await Promise.all(paths.map((path) => fixture.exists(path)))).toEqual([false, false, false, true, true]);
  });

  test("lists pods by their log directories and forgets those that were removed", async (fixture) => {
    const { logs } = fixture;
    const { containerName, ...pod } = newContainer();
    await writeLog(fixture, { ...pod, containerName }, { name: "0.log" });
    await fixture.writeFile({ path: `${fixture.podLogsDir}/of-another-form/0.log`, content: "" });
    const mine = async () => (await logs.listPodLogs()).filter(({ podUid }) => podUid === pod.podUid);
    expect(await mine()).toEqual([pod]);
    expect((await logs.listPodLogs()).map(({ podName }) => podName)).not.toContain("of-another-form");
    await logs.removePodLogs(pod);
    await logs.removePodLogs(pod);
    expect([await mine(), await fixture.exists(podDirectory(fixture, pod))]).toEqual([[], false]);
  });

  for (const name of ["..", "a/b"]) {
    test(`the name ${JSON.stringify(name)} leads nowhere`, async (fixture) => {
      const container = newContainer();
      const path = await writeLog(fixture, container, { name: "0.log" });
      await expectFailure(fixture.logs.removePodLogs({ ...container, podUid: `x/../${name}` }), "invalid");
      await expectFailure(fixture.logs.removeAttemptLogs({ ...container, containerName: name, attempt: 0 }), "invalid");
      expect(await fixture.exists(path)).toBe(true);
    });
  }
}

function defineLinkTests(test: ContractTest<ContainerLogsFixture>): void {
  test("a link is made when its log exists, and a stale one is replaced", async (fixture) => {
    const { logs, linksDir, readLink } = fixture;
    const container = newContainer();
    const linkName = `${container.podName}_contract_app-aaa1.log`;
    const missing = `${podDirectory(fixture, container)}/app/0.log`;
    await logs.link({ linkName, logPath: missing });
    expect(await readLink(`${linksDir}/${linkName}`)).toBeUndefined();
    const first = await writeLog(fixture, container, { name: "0.log" });
    await logs.link({ linkName, logPath: first });
    await logs.link({ linkName, logPath: first });
    expect(await readLink(`${linksDir}/${linkName}`)).toBe(first);
    const second = await writeLog(fixture, container, { name: "1.log" });
    await logs.link({ linkName, logPath: second });
    expect(await readLink(`${linksDir}/${linkName}`)).toBe(second);
  });

  test("removing a link leaves its log and may be repeated", async (fixture) => {
    const { logs, linksDir, readLink, exists } = fixture;
    const container = newContainer();
    const linkName = `${container.podName}_contract_app-aaa2.log`;
    const logPath = await writeLog(fixture, container, { name: "0.log" });
    await logs.link({ linkName, logPath });
    await logs.unlink({ linkName });
    await logs.unlink({ linkName });
    expect([await readLink(`${linksDir}/${linkName}`), await exists(logPath)]).toEqual([undefined, true]);
  });

  test("dangling links go unless their container lives; others stay", async (fixture) => {
    const { logs, linksDir, readLink } = fixture;
    const container = newContainer();
    const logPath = await writeLog(fixture, container, { name: "0.log" });
    const kept = await writeLog(fixture, container, { name: "1.log" });
    const links = {
      dead: `${container.podName}_contract_app-dead1.log`,
      alive: `${container.podName}_contract_app-alive1.log`,
    };
    const whole = `${container.podName}_contract_app-whole1.log`;
    await logs.link({ linkName: links.dead, logPath });
    await logs.link({ linkName: links.alive, logPath });
    await logs.link({ linkName: whole, logPath: kept });
    await logs.removeAttemptLogs({ ...container, attempt: 0 });
    expect(await logs.removeDanglingLinks({ keep: (containerId) => containerId === "alive1" })).toBe(1);
    const left = await Promise.all([links.dead, links.alive, whole].map((name) => readLink(`${linksDir}/${name}`)));
    expect(left).toEqual([undefined, logPath, kept]);
  });

  test("a link's name is one path segment, and its log lies in the log directory", async (fixture) => {
    const logPath = await writeLog(fixture, newContainer(), { name: "0.log" });
    await expectFailure(fixture.logs.link({ linkName: "../escape.log", logPath }), "invalid");
    await expectFailure(fixture.logs.link({ linkName: "x-1.log", logPath: "/etc/passwd" }), "invalid");
    await expectFailure(fixture.logs.unlink({ linkName: "../escape.log" }), "invalid");
  });
}

function defineTailTests(test: ContractTest<ContainerLogsFixture>): void {
  test("a tail is the text of the last records, partial ones joined", async (fixture) => {
    const records = [
      "2026-01-02T03:04:05.000000001Z stdout F one",
      "2026-01-02T03:04:05.000000002Z stderr F two  with  spaces",
      "2026-01-02T03:04:05.000000003Z stdout P thr",
      "2026-01-02T03:04:05.000000004Z stdout F ee",
      "2026-01-02T03:04:05.000000005Z stdout F ",
    ];
    const logPath = await writeLog(fixture, newContainer(), { name: "0.log", content: `${records.join("\n")}\n` });
    const tail = (maxLines: number, maxBytes = 2_048) => fixture.logs.readTail({ logPath, maxLines, maxBytes });
    expect(await tail(80)).toBe("one\ntwo  with  spaces\nthree\n\n");
    expect(await tail(3)).toBe("three\n\n");
    expect(await tail(80, 6)).toBe("hree\n\n");
  });

  test("the tail of a log that is not there is empty", async (fixture) => {
    const logPath = `${podDirectory(fixture, newContainer())}/app/0.log`;
    expect(await fixture.logs.readTail({ logPath, maxLines: 80, maxBytes: 2_048 })).toBe("");
  });

  test("no log outside the log directory is read", async (fixture) => {
    const read = (logPath: string) => fixture.logs.readTail({ logPath, maxLines: 1, maxBytes: 100 });
    await expectFailure(read("/etc/passwd"), "invalid");
    await expectFailure(read(`${fixture.podLogsDir}/../passwd`), "invalid");
  });

  test("a call whose signal has fired does nothing", async ({ logs }) => {
    await expectFailure(logs.listPodLogs({ signal: firedSignal() }), "cancelled");
    await expectFailure(logs.unlink({ linkName: "x.log", signal: firedSignal() }), "cancelled");
  });
}
