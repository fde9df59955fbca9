import { describe, expect, test } from "vitest";
import { flagSettings, normalizeArguments, readFlags, unknownFlags } from "./flags.ts";
import { settingsTable } from "./settings-table.ts";

/** Name, type, default and config field of the kubelet 1.36 flags that this version takes, from the table of flags of the release. */
const upstream: readonly (readonly [flag: string, type: string, value: unknown, field: string])[] = [
  ["config", "string", "", ""],
  ["config-dir", "string", "", ""],
  ["hostname-override", "string", "", ""],
  ["root-dir", "string", "/var/lib/kubelet", ""],
  ["seccomp-default", "bool", false, "seccompDefault"],
  ["minimum-container-ttl-duration", "duration", 0, ""],
  ["maximum-dead-containers-per-container", "int32", 1, ""],
  ["maximum-dead-containers", "int32", -1, ""],
  ["pod-manifest-path", "string", "", "staticPodPath"],
  ["sync-frequency", "duration", 60_000, "syncFrequency"],
  ["file-check-frequency", "duration", 20_000, "fileCheckFrequency"],
  ["http-check-frequency", "duration", 20_000, "httpCheckFrequency"],
  ["manifest-url", "string", "", "staticPodURL"],
  ["manifest-url-header", "colonSeparatedMultimapStringString", [], "staticPodURLHeader"],
  ["address", "ip", "0.0.0.0", "address"],
  ["read-only-port", "int32", 10_255, "readOnlyPort"],
  ["container-runtime-endpoint", "string", "unix:///run/containerd/containerd.sock", "containerRuntimeEndpoint"],
  ["image-service-endpoint", "string", "", "imageServiceEndpoint"],
  ["registry-qps", "int32", 5, "registryPullQPS"],
  ["registry-burst", "int32", 10, "registryBurst"],
  ["healthz-port", "int32", 10_248, "healthzPort"],
  ["healthz-bind-address", "ip", "127.0.0.1", "healthzBindAddress"],
  ["oom-score-adj", "int32", -999, "oomScoreAdj"],
  ["cluster-domain", "string", "", "clusterDomain"],
  ["cluster-dns", "strings", [], "clusterDNS"],
  ["feature-gates", "mapStringBool", {}, "featureGates"],
  ["cgroups-per-qos", "bool", true, "cgroupsPerQOS"],
  ["cgroup-driver", "string", "cgroupfs", "cgroupDriver"],
  ["cgroup-root", "string", "", "cgroupRoot"],
  ["runtime-request-timeout", "duration", 120_000, "runtimeRequestTimeout"],
  ["max-pods", "int32", 110, "maxPods"],
  ["pod-max-pids", "int64", -1, "podPidsLimit"],
  ["resolv-conf", "string", "/etc/resolv.conf", "resolvConf"],
  ["cpu-cfs-quota", "bool", true, "cpuCFSQuota"],
  ["cpu-cfs-quota-period", "duration", 100, "cpuCFSQuotaPeriod"],
  ["allowed-unsafe-sysctls", "strings", [], "allowedUnsafeSysctls"],
  ["serialize-image-pulls", "bool", true, "serializeImagePulls"],
  ["pods-per-core", "int32", 0, "podsPerCore"],
  ["protect-kernel-defaults", "bool", false, "protectKernelDefaults"],
  ["logging-format", "string", "text", "logging.format"],
  ["v", "int32", 0, "logging.verbosity"],
];

test.each(upstream)("--%s is the kubelet's", (flag, type, value, field) => {
  const [, setting] = flagSettings.find(([, entry]) => entry.flag === flag) ?? [];
  expect(setting?.kind.name).toBe(type);
  expect(setting?.default).toEqual(value);
  expect(setting?.field ?? "").toBe(field);
});

test("the other flags are nodelet's own, or differ for a reason", () => {
  const known = new Set(upstream.map(([flag]) => flag));
  const own = flagSettings.map(([, { flag }]) => flag).filter((flag) => !known.has(flag));
  // --node-ip is a string upstream, and a comma separated list in meaning.
  expect(own.toSorted()).toEqual(["container-links-dir", "node-ip", "take-over"]);
});

test("with a configuration file the read-only port is off and memory is kept free, as upstream", () => {
  expect(settingsTable.readOnlyPort.defaultWithFile).toBe(0);
  expect(settingsTable.evictionHard.default).toEqual({});
  expect(settingsTable.evictionHard.defaultWithFile).toEqual({ "memory.available": "100Mi" });
});

describe("arguments before they are parsed", () => {
  test.each([
    [["--max_pods=5"], ["--max-pods=5"]],
    [
      ["--root_dir", "/a_b"],
      ["--root-dir", "/a_b"],
    ],
    [["--resolv-conf=/x_y=z"], ["--resolv-conf=/x_y=z"]],
    [["--take-over=T"], ["--take-over=true"]],
    [["--cgroups_per_qos=0"], ["--cgroups-per-qos=false"]],
    [
      ["-v=2", "pods"],
      ["-v=2", "pods"],
    ],
    [
      ["--", "--max_pods=5"],
      ["--", "--max_pods=5"],
    ],
  ])("%j become %j", (given, expected) => {
    expect(normalizeArguments(given)).toEqual(expected);
  });

  test("a switch takes Go's booleans only", () => {
    expect(() => normalizeArguments(["--take-over=yes"])).toThrow('--take-over: expected true or false, found "yes"');
  });
});

describe("values of flags", () => {
  test.each([
    [{ "max-pods": "30" }, { maxPods: 30 }],
    [{ "max-pods": ["30", "40"] }, { maxPods: 40 }],
    [{ "pod-max-pids": "-1" }, { podPidsLimit: -1 }],
    [{ "sync-frequency": "1m30s" }, { syncFrequency: 90_000 }],
    [{ "cluster-dns": ["10.0.0.1,10.0.0.2", "fd00::1"] }, { clusterDns: ["10.0.0.1", "10.0.0.2", "fd00::1"] }],
    [{ "cluster-dns": "" }, { clusterDns: [] }],
    [{ "feature-gates": ["A=true,B=false", "A=f"] }, { featureGates: { A: false, B: false } }],
    [{ "feature-gates": "__proto__=true" }, { featureGates: JSON.parse('{"__proto__": true}') }],
    [
      { "manifest-url-header": ["a:hello,b:again:world", "b:beautiful"] },
      {
        staticPodUrlHeader: [
          ["a", "hello"],
          ["b", "again:world"],
          ["b", "beautiful"],
        ],
      },
    ],
    [{ "take-over": true }, { takeOver: true }],
    [{ "resolv-conf": "" }, { resolvConf: "" }],
    [{ address: "::" }, { address: "::" }],
    [{}, {}],
  ])("%j are %j", (parsed, values) => {
    expect(readFlags(parsed)).toEqual(values);
  });

  test.each([
    [{ "max-pods": "many" }, '--max-pods: expected a whole number of 32 bits, found "many"'],
    [{ "max-pods": "2147483648" }, '--max-pods: expected a whole number of 32 bits, found "2147483648"'],
    [{ "max-pods": "-1" }, "--max-pods=-1: must be 0 or more"],
    [{ "sync-frequency": "5" }, '--sync-frequency: expected a duration such as 300ms, 20s or 1h30m, found "5"'],
    [{ "sync-frequency": "0s" }, "--sync-frequency=0s: must be more than 0"],
    [{ "healthz-port": "70000" }, "--healthz-port=70000: must be a port (1 to 65535), or 0 to switch it off"],
    [
      { "healthz-bind-address": "localhost" },
      '--healthz-bind-address: expected an IP address such as 127.0.0.1 or ::1, found "localhost"',
    ],
    [
      { "feature-gates": "A" },
      '--feature-gates: expected a comma separated list of name=true and name=false, found "A"',
    ],
    [{ "logging-format": "xml" }, "--logging-format=xml: must be one of text, json"],
    [{ "root-dir": "a/b" }, "--root-dir=a/b: must be an absolute path without . and .. and doubled slashes"],
    [{ "root-dir": "/a/../b" }, "--root-dir=/a/../b: must be an absolute path without . and .. and doubled slashes"],
    [{ "container-runtime-endpoint": "" }, "--container-runtime-endpoint=: must not be empty"],
  ])("%j are refused", (parsed, message) => {
    expect(() => readFlags(parsed)).toThrow(message);
  });
});

test.each([
  [["max-podss"], "unknown flag --max-podss; did you mean --max-pods?"],
  [["helathz-port"], "unknown flag --helathz-port; did you mean --healthz-port?"],
  [["kubeconfigs"], "unknown flag --kubeconfigs"],
  [["x"], "unknown flag -x"],
  [["rootdir", "nope-nothing"], "unknown flag --rootdir; did you mean --root-dir?\nunknown flag --nope-nothing"],
])("of %j is said: %s", (names, message) => {
  expect(unknownFlags(names)).toBe(message);
});
