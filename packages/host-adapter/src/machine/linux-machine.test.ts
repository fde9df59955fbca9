import { mkdirSync, writeFileSync } from "node:fs";
import { hostname, networkInterfaces, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchFolders } from "../scratch.test-support.ts";
import { LinuxMachine, type LinuxMachineOptions } from "./linux-machine.ts";
import { lookUpBounded } from "./name-lookup.ts";

const scratch = scratchFolders();

function machineWith(files: Record<string, string>, options: LinuxMachineOptions = {}): LinuxMachine {
  const root = scratch();
  const all = {
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: processor : odd\n\nprocessor\t: 1\n",
    "/proc/meminfo": "MemTotal:       16316412 kB\nMemFree:         1 kB\nSwapTotal:       2097148 kB\n",
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return new LinuxMachine({
    root,
    interfaces: () => [{ name: "eth0", address: "192.168.2.7" }],
    lookUp: async () => [],
    fileSystemType: async () => 0x01021994,
    hostname: () => "Node-1.Example ",
    ...options,
  });
}

describe("LinuxMachine", () => {
  it("reads the kernel's files", async () => {
    const machine = machineWith({
      "/proc/sys/kernel/random/boot_id": "0a1b\n",
      "/etc/machine-id": "c0ffee\n",
      "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
      "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
      "/sys/kernel/mm/hugepages/other/x": "",
      "/sys/module/apparmor/parameters/enabled": "Y\n",
    });
    expect(await machine.info()).toEqual({
      hostname: "node-1.example",
      cpuCores: 2,
      memoryBytes: 16316412n * 1024n,
      swapBytes: 2097148n * 1024n,
      cgroupVersion: 1,
      hugepageSizesBytes: [2097152n, 1073741824n],
      bootId: "0a1b",
      machineId: "c0ffee",
      nodeIps: ["192.168.2.7"],
      os: "linux",
      kernelVersion: release(),
      appArmor: true,
      architecture: process.arch === "x64" ? "amd64" : "arm64",
    });
  });

  it("does without what is optional", async () => {
    expect(await machineWith({ "/var/lib/dbus/machine-id": "dbus\n" }).info()).toMatchObject({
      hugepageSizesBytes: [],
      bootId: "",
      machineId: "dbus",
      appArmor: false,
    });
  });

  it.each([
    [0x63677270, 2],
    [0x01021994, 1],
  ])("a file system of type %i at /sys/fs/cgroup is version %i", async (type, cgroupVersion) => {
    expect(await machineWith({}, { fileSystemType: async () => type }).info()).toMatchObject({ cgroupVersion });
  });

  it("looks addresses up by the node's name", async () => {
    const asked: string[] = [];
    const lookUp = async (name: string) => (asked.push(name), []);
    await machineWith({}, { lookUp }).info();
    await machineWith({}, { lookUp, nodeName: "other" }).info();
    expect(asked).toEqual(["node-1.example", "other"]);
  });

  it.each([
    ["/proc/cpuinfo", "", /no processor/],
    ["/proc/meminfo", "SwapTotal: 0 kB\n", /no MemTotal/],
    ["/proc/meminfo", "MemTotal: 1 kB\n", /no SwapTotal/],
  ])("says what is wrong with %s", async (path, content, message) => {
    await expect(machineWith({ [path]: content }).info()).rejects.toThrow(message);
  });

  it("refuses an empty host name", async () => {
    await expect(machineWith({}, { hostname: () => " " }).info()).rejects.toMatchObject({ kind: "invalid" });
  });

  it("reads the machine that this runs on", async () => {
    const info = await new LinuxMachine().info();
    expect(info.hostname).toBe(hostname().toLowerCase());
    expect(info.memoryBytes).toBe(BigInt(totalmem()));
    expect(info.cpuCores).toBeGreaterThan(0);
    const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
    expect(own).toEqual(expect.arrayContaining([...info.nodeIps]));
  });
});

describe("lookUpBounded", () => {
  it("finds local names and is empty for unknown ones", async () => {
    expect(await lookUpBounded({ name: "localhost", timeoutMs: 5_000 })).toContain("127.0.0.1");
    expect(await lookUpBounded({ name: "no-such-name.invalid", timeoutMs: 5_000 })).toEqual([]);
  });
});
