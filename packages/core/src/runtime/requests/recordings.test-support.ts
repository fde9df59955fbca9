import { readdirSync, readFileSync } from "node:fs";
import { type Pod, parseJson } from "../../api/index.ts";
import { defaultAgentConfig } from "../../config/agent-config.ts";
import type { MachineInfo } from "../../ports/machine.ts";
import type { KeyedObject, ServiceSummary } from "../../ports/object-source.ts";
import { objectKey, type PrefetchedObjects } from "./object-references.ts";
import type { NodeContext } from "./request-context.ts";

const FOLDER = new URL("../../../testdata/upstream/pods/", import.meta.url);

/** A call of the recording; `error` is the gRPC code when it failed. */
export interface RecordedRequest {
  readonly call: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly error?: number;
  readonly message?: string;
}

/** One recorded pod. */
export interface Recording {
  readonly pod: Pod;
  readonly cri: readonly RecordedRequest[];
  readonly status: NonNullable<Pod["status"]>;
  readonly events: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly count: number;
    readonly fieldPath?: string;
  }[];
}

/** Names of all recordings. */
export function recordingNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
}

/** A recording; the pod carries the annotations that a source adds to it. */
export function loadRecording(name: string): Recording {
  const recording = parseJson(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Recording;
  const metadata = recording.pod.metadata ?? {};
  const added = { "kubernetes.io/config.source": "api", "kubernetes.io/config.seen": "TIME" };
  const pod = { ...recording.pod, metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } } };
  return { ...recording, pod };
}

/** The machine that the recordings were made on. */
export const RECORDED_MACHINE: MachineInfo = {
  hostname: "n1",
  cpuCores: 2,
  memoryBytes: 25_276_510_208n,
  swapBytes: 0n,
  cgroupVersion: 1,
  swapAccounting: true,
  hugepageSizesBytes: [2_097_152n, 1_073_741_824n],
  bootId: "boot",
  machineId: "machine",
  nodeIps: ["192.0.2.2"],
  os: "linux",
  kernelVersion: "6.1.0",
  appArmor: false,
  architecture: "amd64",
};

/** The node that the recordings were made on. */
export const RECORDED_NODE: NodeContext = {
  config: { ...defaultAgentConfig("n1"), clusterDns: ["10.96.0.10"], clusterDomain: "cluster.local" },
  machine: RECORDED_MACHINE,
  allocatable: { cpu: "2", memory: "25171652608", "ephemeral-storage": "100Gi", pods: "110" },
};

export const RECORDED_RESOLV_CONF = "nameserver HOST_DNS\n";

export const RECORDED_SERVICES: readonly ServiceSummary[] = [
  {
    namespace: "default",
    name: "kubernetes",
    clusterIp: "10.96.0.1",
    ports: [{ name: "https", port: 443, protocol: "TCP" }],
  },
  {
    namespace: "default",
    name: "web-svc",
    clusterIp: "10.96.0.77",
    ports: [
      { name: "http", port: 80, protocol: "TCP" },
      { name: "dns", port: 53, protocol: "UDP" },
    ],
  },
];

const CONFIG_MAP = { one: "1", two: "line\nline", "not.a.var-name": "x" };
const SECRET = { user: "u", pw: "p" };

export const RECORDED_OBJECTS: PrefetchedObjects = prefetched([
  { kind: "configMap", namespace: "default", name: "cm", data: CONFIG_MAP },
  { kind: "secret", namespace: "default", name: "sec", data: SECRET },
]);

/** Objects as a container's request builder takes them. */
export function prefetched(
  objects: readonly (KeyedObject & { readonly kind: "configMap" | "secret" })[],
): PrefetchedObjects {
  return new Map(objects.map((object) => [objectKey(object), { kind: "found", object }]));
}
