import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  describeClockContract,
  describeContainerLogsContract,
  describeHostNetworkFilesContract,
  describeMachineContract,
  describePodFilesContract,
  describeStateStoreContract,
} from "@nodelet/testkit/contracts";
import { HostPodFiles } from "./files/host-pod-files.ts";
import { prepareHostDirectories } from "./files/prepare-directories.ts";
import { HostContainerLogs } from "./logs/host-container-logs.ts";
import { LinuxMachine } from "./machine/linux-machine.ts";
import { HostNetwork } from "./network/host-network.ts";
import { FileStateStore } from "./state/file-state-store.ts";
import { SystemClock } from "./time/system-clock.ts";

async function makeFolders() {
  const base = await realpath(await mkdtemp(join(tmpdir(), "nodelet-contract-")));
  const folders = {
    rootDir: join(base, "root"),
    podLogsDir: join(base, "logs/pods"),
    containerLinksDir: join(base, "logs/containers"),
  };
  await prepareHostDirectories(folders);
  return { ...folders, base, cleanup: () => rm(base, { recursive: true, force: true }) };
}

const absentAsUndefined = () => undefined;
const look = {
  readFile: (path: string) => readFile(path, "utf8").catch(absentAsUndefined),
  readLink: (path: string) => readlink(path).catch(absentAsUndefined),
  exists: (path: string) =>
    realpath(path).then(
      () => true,
      () => false,
    ),
  writeFile: async (file: { readonly path: string; readonly content: string }) => {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, file.content);
  },
};

describePodFilesContract({
  name: "HostPodFiles",
  makeFixture: async () => {
    const { rootDir, podLogsDir, cleanup } = await makeFolders();
    const mount = async (path: string) => {
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", path]);
      return async () => void execFileSync("umount", [path]);
    };
    return { podFiles: new HostPodFiles({ rootDir, podLogsDir }), mount, cleanup, ...look };
  },
});

describeContainerLogsContract({
  name: "HostContainerLogs",
  makeFixture: async () => {
    const { podLogsDir, containerLinksDir, cleanup } = await makeFolders();
    const logs = new HostContainerLogs({ podLogsDir, containerLinksDir });
    return { logs, podLogsDir, linksDir: containerLinksDir, cleanup, ...look };
  },
});

describeStateStoreContract({
  name: "FileStateStore",
  makeFixture: async () => {
    const { rootDir, cleanup } = await makeFolders();
    const open = () => new FileStateStore({ directory: rootDir, clock: new SystemClock() });
    const damage = async (name: string) => {
      const path = join(rootDir, name);
      const bytes = await readFile(path);
      await writeFile(path, bytes.subarray(0, bytes.length - 3));
    };
    return { store: open(), reopen: open, damage, cleanup };
  },
});

describeHostNetworkFilesContract({
  name: "HostNetwork",
  makeFixture: async () => {
    const { base, cleanup } = await makeFolders();
    const resolvConf = join(base, "resolv.conf");
    const hostsPath = join(base, "hosts");
    return {
      files: new HostNetwork({ hostsPath }),
      resolvConf,
      absentPath: join(base, "none"),
      writeResolvConf: (content) => writeFile(resolvConf, content),
      writeHosts: (content) => (content === undefined ? rm(hostsPath) : writeFile(hostsPath, content)),
      cleanup,
    };
  },
});

describeMachineContract({ name: "LinuxMachine", makeFixture: () => ({ machine: new LinuxMachine() }) });

describeClockContract({
  name: "SystemClock",
  makeFixture: () => ({ clock: new SystemClock(), pass: (durationMs) => delay(durationMs) }),
});
