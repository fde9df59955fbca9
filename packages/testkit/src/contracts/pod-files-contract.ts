import type { PodFiles, PodFilesRef } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A PodFiles, and a look at the file system behind it. Its directories are empty at first. */
export interface PodFilesFixture extends ContractFixture {
  readonly podFiles: PodFiles;
  /** Content of a file; undefined when there is none. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  readonly writeFile: (file: { readonly path: string; readonly content: string }) => Promise<void>;
  readonly exists: (path: string) => Promise<boolean>;
  /** Mounts something at an existing directory, where that can be done here; the answer unmounts it. */
  readonly mount?: (path: string) => Promise<() => Promise<void>>;
}

let podCount = 0;

function newPod(): PodFilesRef & { readonly containerName: string } {
  podCount += 1;
  return { podUid: `files-${podCount}`, podName: `pod-${podCount}`, podNamespace: "contract", containerName: "app" };
}

/** What every PodFiles must do. */
export function describePodFilesContract(options: ContractOptions<PodFilesFixture>): void {
  describeContract("PodFiles contract", options, (test) => {
    defineDirectoryTests(test);
    defineTerminationLogTests(test);
    defineHostileTests(test);
  });
}

function defineDirectoryTests(test: ContractTest<PodFilesFixture>): void {
  test("making a pod's directories lists it, and may be repeated", async ({ podFiles }) => {
    const pod = newPod();
    await podFiles.ensurePod(pod);
    await podFiles.ensurePod(pod);
    await podFiles.ensureContainer(pod);
    await podFiles.ensureContainer(pod);
    expect((await podFiles.listPods()).filter((uid) => uid === pod.podUid)).toEqual([pod.podUid]);
  });

  test("removing a pod removes all of it but its logs, and may be repeated", async ({
    podFiles,
    writeFile,
    exists,
  }) => {
    const pod = newPod();
    await podFiles.ensurePod(pod);
    await podFiles.ensureContainer(pod);
    const hosts = await podFiles.writeEtcHosts({ podUid: pod.podUid, content: "x" });
    const podDir = hosts.slice(0, hosts.lastIndexOf("/"));
    await writeFile({ path: `${podDir}/plugins/left-behind`, content: "y" });
    await podFiles.removePod({ podUid: pod.podUid });
    await podFiles.removePod({ podUid: pod.podUid });
    expect(await exists(podDir)).toBe(false);
    expect(await podFiles.listPods()).not.toContain(pod.podUid);
  });

  test("removing a pod that never was succeeds", async ({ podFiles }) => {
    await podFiles.removePod({ podUid: newPod().podUid });
  });

  test("a pod with something mounted under it is not removed, where things can be mounted", async (fixture) => {
    const { podFiles, mount, exists } = fixture;
    if (mount === undefined) return;
    const pod = newPod();
    await podFiles.ensurePod(pod);
    const hosts = await podFiles.writeEtcHosts({ podUid: pod.podUid, content: "x" });
    const volumes = hosts.replace(/etc-hosts$/, "volumes");
    const unmount = await mount(volumes);
    try {
      await expectFailure(podFiles.removePod({ podUid: pod.podUid }), "conflict");
      expect([await exists(volumes), await exists(hosts)]).toEqual([true, true]);
    } finally {
      await unmount();
    }
    await podFiles.removePod({ podUid: pod.podUid });
    expect(await exists(hosts)).toBe(false);
  });

  test("writing etc-hosts answers its path and replaces what was there", async ({ podFiles, readFile }) => {
    const { podUid, ...pod } = newPod();
    await podFiles.ensurePod({ podUid, ...pod });
    const first = await podFiles.writeEtcHosts({ podUid, content: "a long first content\n" });
    expect(first).toMatch(/^\/.*\/etc-hosts$/);
    expect(await podFiles.writeEtcHosts({ podUid, content: "short\n" })).toBe(first);
    expect(await readFile(first)).toBe("short\n");
  });
}

function defineTerminationLogTests(test: ContractTest<PodFilesFixture>): void {
  test("each termination log is a fresh empty file of its own", async ({ podFiles, readFile }) => {
    const pod = newPod();
    await podFiles.ensurePod(pod);
    await podFiles.ensureContainer(pod);
    const first = await podFiles.createTerminationLog(pod);
    const second = await podFiles.createTerminationLog(pod);
    expect(first).not.toBe(second);
    expect([await readFile(first), await readFile(second)]).toEqual(["", ""]);
  });

  test("reading a termination log answers its end, and nothing when there is none", async ({ podFiles, writeFile }) => {
    const pod = newPod();
    await podFiles.ensurePod(pod);
    await podFiles.ensureContainer(pod);
    const hostPath = await podFiles.createTerminationLog(pod);
    const read = (maxBytes: number, path = hostPath) =>
      podFiles.readTerminationLog({ podUid: pod.podUid, hostPath: path, maxBytes });
    expect(await read(4_096)).toBe("");
    await writeFile({ path: hostPath, content: "0123456789" });
    expect([await read(4_096), await read(10), await read(4)]).toEqual(["0123456789", "0123456789", "6789"]);
    expect(await read(10, `${hostPath}-gone`)).toBe("");
  });
}

function defineHostileTests(test: ContractTest<PodFilesFixture>): void {
  for (const name of ["..", ".", "a/b", "", "a\0b"]) {
    test(`the name ${JSON.stringify(name)} for pod or container is invalid`, async ({ podFiles }) => {
      const pod = newPod();
      await podFiles.ensurePod(pod);
      await expectFailure(podFiles.ensurePod({ ...pod, podUid: name }), "invalid");
      await expectFailure(podFiles.ensureContainer({ ...pod, containerName: name }), "invalid");
      await expectFailure(podFiles.createTerminationLog({ ...pod, containerName: name }), "invalid");
      await expectFailure(podFiles.writeEtcHosts({ podUid: name, content: "" }), "invalid");
      await expectFailure(podFiles.removePod({ podUid: name }), "invalid");
      expect(await podFiles.listPods()).toContain(pod.podUid);
    });
  }

  test("a termination log outside the pod's directory is not read", async ({ podFiles }) => {
    const own = newPod();
    const other = newPod();
    for (const pod of [own, other]) await podFiles.ensurePod(pod);
    await podFiles.ensureContainer(other);
    const foreign = await podFiles.createTerminationLog(other);
    const inside = await podFiles.writeEtcHosts({ podUid: own.podUid, content: "" });
    for (const hostPath of ["/etc/passwd", foreign, `${inside}/../../${other.podUid}/etc-hosts`]) {
      const read = podFiles.readTerminationLog({ podUid: own.podUid, hostPath, maxBytes: 10 });
      await expectFailure(read, ["invalid", "permission"]);
    }
  });

  test("a call whose signal has fired does nothing", async ({ podFiles }) => {
    const pod = newPod();
    await expectFailure(podFiles.ensurePod({ ...pod, signal: firedSignal() }), "cancelled");
    expect(await podFiles.listPods()).not.toContain(pod.podUid);
  });
}
