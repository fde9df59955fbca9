import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultAgentConfig } from "@nodelet/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agentSettings } from "./agent-settings.ts";
import { decodeConfig, settingsOf } from "./config-document.ts";
import { mergeTrees } from "./config-tree.ts";
import { loadSettings, resolveSettings } from "./resolve-settings.ts";
import type { Settings } from "./settings-table.ts";

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const noFile = { values: {}, warnings: [], files: [] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function values(flags: Partial<Settings>): Promise<Settings> {
  return (await loadSettings(flags)).values;
}

describe("one configuration file", () => {
  test("gives settings by the fields' names", () => {
    const text = `${head}
staticPodPath: /etc/kubernetes/manifests
staticPodURLHeader: { Authorization: [one, two] }
syncFrequency: 1m30s
maxPods: 30
podPidsLimit: 4096
clusterDNS: [10.96.0.10]
featureGates: { EventedPLEG: false }
cgroupsPerQOS: no
logging: { format: json, verbosity: 4 }
crashLoopBackOff: { maxContainerRestartPeriod: 60s }
`;
    const { value, warnings } = decodeConfig({ bytes: text, source: "kubelet.yaml" });
    expect(warnings).toEqual([]);
    expect(settingsOf(value)).toEqual({
      staticPodPath: "/etc/kubernetes/manifests",
      staticPodUrlHeader: [
        ["Authorization", "one"],
        ["Authorization", "two"],
      ],
      syncFrequency: 90_000,
      maxPods: 30,
      podPidsLimit: 4096,
      clusterDns: ["10.96.0.10"],
      featureGates: { EventedPLEG: false },
      cgroupsPerQos: false,
      loggingFormat: "json",
      verbosity: 4,
      maxContainerRestartPeriod: 60_000,
    });
  });

  test("may be JSON", () => {
    const text = JSON.stringify({
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      maxPods: 7,
    });
    expect(settingsOf(decodeConfig({ bytes: text, source: "k.json" }).value)).toEqual({ maxPods: 7 });
  });

  test("warns of fields that nobody knows and of keys written twice; the last one counts", () => {
    const text = `${head}reservedCpus: "0-1"\nmaxPods: 1\nmaxPods: 2\nlogging: { colour: true }\n`;
    const { value, warnings } = decodeConfig({ bytes: text, source: "k.yaml" });
    expect(settingsOf(value)).toEqual({ maxPods: 2 });
    expect(warnings).toEqual([
      'k.yaml:5:1: the key "maxPods" is written twice; the last one counts',
      "k.yaml:3:1: reservedCpus: unknown field, ignored",
      "k.yaml:6:12: logging.colour: unknown field, ignored",
    ]);
  });

  test.each([
    ["maxPods: many", 'k.yaml:3:10: maxPods: expected a whole number of 32 bits, found the string "many"'],
    ["maxPods: -1", "k.yaml:3:10: maxPods: must be 0 or more"],
    [
      "syncFrequency: 60",
      'k.yaml:3:16: syncFrequency: expected a string, found the number 60 (write "60" in quotes if the text is meant)',
    ],
    ['syncFrequency: "60"', 'k.yaml:3:16: syncFrequency: expected a duration such as 300ms, 20s or 1h30m, found "60"'],
    ["clusterDNS: 10.0.0.1", 'k.yaml:3:13: clusterDNS: expected a list, found the string "10.0.0.1"'],
    ["podLogsDir: logs", "k.yaml:3:13: podLogsDir: must be an absolute path without . and .. and doubled slashes"],
    ["podLogsDir: /lögs", "k.yaml:3:13: podLogsDir: must have ASCII characters only"],
    ["logging: { format: xml }", "k.yaml:3:20: logging.format: must be one of text, json"],
    [
      "staticPodURLHeader: { a: b }",
      "k.yaml:3:21: staticPodURLHeader: expected lists of values by name, such as Accept: [text/plain], found a value of another form",
    ],
    [
      "evictionHard: { memory.available: lots }",
      "k.yaml:3:15: evictionHard: expected quantities by signal, such as memory.available: 100Mi, found a value of another form",
    ],
  ])("refuses %s", (line, message) => {
    expect(() => decodeConfig({ bytes: `${head}${line}\n`, source: "k.yaml" })).toThrow(message);
  });

  test.each([
    ["", "k.yaml: the file is empty; expected a KubeletConfiguration in YAML or JSON"],
    ["maxPods: 1\n", 'k.yaml:1:1: kind: expected "KubeletConfiguration", found nothing'],
    [
      "kind: KubeletConfiguration\napiVersion: v1\n",
      'k.yaml:2:13: apiVersion: expected "kubelet.config.k8s.io/v1beta1", found "v1"',
    ],
    ["[]", "k.yaml:1:1: expected an object of kind KubeletConfiguration, found a list"],
  ])("refuses a file of another form: %j", (text, message) => {
    expect(() => decodeConfig({ bytes: text, source: "k.yaml" })).toThrow(message);
  });
});

describe("drop-ins", () => {
  test("win over the file, later ones over earlier ones, and flags over all; lists are replaced", async () => {
    const config = write("base.yaml", `${head}maxPods: 40\nclusterDNS: [10.0.0.1]\nclusterDomain: base\n`);
    const configDir = join(folder, "conf.d");
    mkdirSync(join(configDir, "30-sub"), { recursive: true });
    write("conf.d/20-b.conf", `${head}maxPods: 60\nclusterDNS: [10.0.0.3]\n`);
    write("conf.d/10-a.conf", `${head}maxPods: 50\nclusterDNS: [10.0.0.2, 10.0.0.4]\npodsPerCore: 3\n`);
    write("conf.d/99.conf.bak", "not yaml: [");
    write("conf.d/30-sub/x.conf", `${head}registryBurst: 11\n`);
    const resolved = await loadSettings({ config, configDir, maxPods: 70 });
    expect(resolved.files).toEqual([
      config,
      join(configDir, "10-a.conf"),
      join(configDir, "20-b.conf"),
      join(configDir, "30-sub/x.conf"),
    ]);
    expect(resolved.values).toMatchObject({
      maxPods: 70,
      clusterDns: ["10.0.0.3"],
      clusterDomain: "base",
      podsPerCore: 3,
      registryBurst: 11,
    });
    expect((await loadSettings({ config, configDir })).values.maxPods).toBe(60);
    expect((await loadSettings({ config })).values.maxPods).toBe(40);
  });

  test("merge maps key by key, and null takes a value back to its default", async () => {
    const config = write("base.yaml", `${head}maxPods: 40\nfeatureGates: { A: true, B: true }\n`);
    const configDir = join(folder, "d");
    mkdirSync(configDir);
    write("d/a.conf", `${head}maxPods: null\nfeatureGates: { B: false }\n`);
    const settings = await values({ config, configDir, featureGates: { C: true } });
    expect(settings).toMatchObject({ maxPods: 110, featureGates: { A: true, B: false, C: true } });
  });

  test.each([
    ["", /30\.conf: the file is empty/],
    ["maxPods: 1\n", /30\.conf:1:1: kind: expected "KubeletConfiguration"/],
  ])("that are no configuration stop the start, with their name: %j", async (text, message) => {
    write("30.conf", text);
    await expect(loadSettings({ configDir: folder })).rejects.toThrow(message);
  });

  test("without --config leave the defaults of the flags", async () => {
    write("a.conf", `${head}maxPods: 1\n`);
    expect(await values({ configDir: folder })).toMatchObject({ maxPods: 1, readOnlyPort: 10_255, evictionHard: {} });
  });
});

describe("places that cannot be read", () => {
  test.each([
    [{ config: "/no/such.yaml" }, "/no/such.yaml: there is no such file or directory"],
    [{ config: "/dev/null" }, "/dev/null: expected a file"],
    [{ configDir: "/no/such" }, "--config-dir /no/such: there is no such file or directory"],
    [{ configDir: "/dev/null" }, "--config-dir /dev/null: expected a directory"],
  ])("%j", async (flags, message) => {
    await expect(loadSettings(flags)).rejects.toThrow(message);
  });
});

test("precedence of one setting, place by place", () => {
  const base = { flags: {}, file: noFile, hasFile: false };
  expect(resolveSettings(base).values.readOnlyPort).toBe(10_255);
  expect(resolveSettings({ ...base, hasFile: true }).values.readOnlyPort).toBe(0);
  const file = { ...noFile, values: { readOnlyPort: 7, seccompDefault: true } };
  expect(resolveSettings({ flags: {}, file, hasFile: true }).values.readOnlyPort).toBe(7);
  const both = resolveSettings({ flags: { readOnlyPort: 8, seccompDefault: false }, file, hasFile: true });
  expect(both.values.readOnlyPort).toBe(8);
  // Flag and field are joined by "or" upstream.
  expect(both.values.seccompDefault).toBe(true);
  expect(both.deprecatedFlags).toEqual(["--read-only-port"]);
});

test("merge patches are RFC 7386's, and keys are data", () => {
  const tree = { a: "b", c: { d: "e", f: "g" }, list: [1, 2] };
  const patch = { value: JSON.parse('{"a":"z","c":{"d":1},"list":[3],"__proto__":{"x":1}}'), nulls: [["c", "f"]] };
  const merged = mergeTrees(tree, patch);
  expect(JSON.stringify(merged)).toBe('{"a":"z","c":{"d":1},"list":[3],"__proto__":{"x":1}}');
  expect(tree).toEqual({ a: "b", c: { d: "e", f: "g" }, list: [1, 2] });
});

describe("what core is told", () => {
  const settingsWith = (flags: Partial<Settings>): Settings =>
    resolveSettings({ flags, file: noFile, hasFile: false }).values;
  const told = (flags: Partial<Settings>, hostname = "Node-1.Example ") =>
    agentSettings({ settings: settingsWith(flags), hostname });

  test("is upstream's defaults without anything given", () => {
    const { config, warnings } = told({});
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      ...defaultAgentConfig("node-1.example"),
      maxContainerRestartPeriodMs: 300_000,
      // The threshold comes with a configuration file only.
      evictionHardMemoryBytes: 0n,
    });
  });

  test.each([
    [{ hostnameOverride: " N1 " }, { nodeName: "n1", hostnameOverride: " N1 " }],
    [{ cgroupRoot: "/a/b/" }, { cgroupRoot: ["a", "b"] }],
    [{ podPidsLimit: -7 }, { podPidsLimit: -1 }],
    [{ evictionHard: { "memory.available": "1Gi" } }, { evictionHardMemoryBytes: 1_073_741_824n }],
    [
      { maxParallelImagePulls: 4, serializeImagePulls: false },
      { maxParallelImagePulls: 4, serializeImagePulls: false },
    ],
  ])("%j", (flags, expected) => {
    expect(told(flags).config).toMatchObject(expected);
  });

  // Names of static pods end in the node's: one that is no RFC 1123 subdomain makes each of them invalid.
  test.each(["under_score", "n1/..", "-n", "a..b", "n".repeat(254)])("no node is called %s", (hostnameOverride) => {
    expect(() => told({ hostnameOverride })).toThrow(
      expect.objectContaining({ kind: "invalid", message: expect.stringContaining("give --hostname-override") }),
    );
  });

  test.each([
    [{ clusterDns: ["10.0.0.1", "dns.example"] }, 'clusterDNS: "dns.example" is no IP address and is left out'],
    [{ featureGates: { MyGate: true } }, "featureGates: MyGate has no effect in this version"],
    [
      { evictionHard: { "nodefs.available": "10%" } },
      "evictionHard: nodefs.available: 10% has no effect in this version",
    ],
  ])("%j is warned of", (flags, warning) => {
    expect(told(flags).warnings).toEqual([warning]);
  });

  test.each([
    [{ cgroupDriver: "systemd" }, "cgroupDriver: systemd: the systemd driver is not built yet"],
    [{ maxParallelImagePulls: 2 }, "maxParallelImagePulls: more than 1 needs serializeImagePulls: false"],
    [{ cgroupRoot: "/a/../b" }, "--cgroup-root=/a/../b: must not hold . or .."],
  ])("%j is refused", (flags, message) => {
    expect(() => told(flags)).toThrow(message);
  });

  test("a node without a name is refused", () => {
    expect(() => told({}, "  ")).toThrow("the node has no name");
  });
});
