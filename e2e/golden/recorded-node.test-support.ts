import type { AgentPorts, MachineInfo, NodeEvent, Pod, PodStatus } from "@nodelet/core";
import {
  createContainerRequest,
  messageToJson,
  pullImageRequest,
  removeContainerRequest,
  removePodSandboxRequest,
  runPodSandboxRequest,
  startContainerRequest,
  stopContainerRequest,
  stopPodSandboxRequest,
} from "@nodelet/cri-adapter/mapping";
import {
  CallJournal,
  containerdLatency,
  InMemoryObjects,
  type Program,
  type RecordedCall,
  recordCalls,
  SeededRandom,
  SimulatedNode,
  StaticHostNetworkFiles,
} from "@nodelet/testkit";
import type { RecordedCri, RecordedEvent } from "./recordings.test-support.ts";

/** How long after the creation the recordings were taken. */
const RECORDED_MS = 17_000;
const IMAGE = "localhost/busybox:1.35";
const NODE_IP = "192.0.2.2";

/** The machine that the recordings were made on. */
const MACHINE: MachineInfo = {
  hostname: "n1",
  cpuCores: 2,
  memoryBytes: 25_276_510_208n,
  swapBytes: 0n,
  cgroupVersion: 1,
  swapAccounting: true,
  hugepageSizesBytes: [2_097_152n, 1_073_741_824n],
  bootId: "boot",
  machineId: "machine",
  nodeIps: [NODE_IP],
  os: "linux",
  kernelVersion: "6.1.0",
  appArmor: false,
  architecture: "amd64",
};

/** What the agent did, in the form of the recordings but not yet normalised. */
export interface Doings {
  readonly cri: readonly RecordedCri[];
  /** Every status that was posted, in order. */
  readonly statuses: readonly PodStatus[];
  /** Equal events are counted, as upstream's correlator does, in the order of their first appearance. */
  readonly events: readonly RecordedEvent[];
  readonly names: Names;
}

/** What stands for what in a run: placeholders by the text that they replace. */
export type Names = ReadonlyMap<string, string>;

/** Runs a pod on a simulated node like the recorded one for as long as the recording lasted. */
export async function runAsRecorded(options: {
  readonly pod: Pod;
  readonly seed: number;
  readonly program?: Program;
}): Promise<Doings> {
  const journal = new CallJournal();
  const statuses: PodStatus[] = [];
  const node = newNode(options.seed, { journal, statuses });
  if (options.program !== undefined) node.runtime.addProgram(options.program);
  node.start();
  await node.clock.advance(5000);
  const uid = node.random.fork("uid").uuid();
  node.pods.apply(withUid(options.pod, uid));
  await node.clock.advance(RECORDED_MS);
  const image = node.images.resolve(IMAGE);
  const names = new Map([
    [uid, "POD_UID"],
    [image?.id ?? "", "IMAGE_ID"],
    ...ids(journal.calls, "runSandbox", "SANDBOX"),
    ...ids(journal.calls, "createContainer", "CONTAINER"),
  ]);
  const doings = { cri: journal.calls.map(toCri), statuses, events: counted(node.events.events), names };
  node.kill();
  return doings;
}

/** What is written down while a node runs. */
interface Notes {
  readonly journal: CallJournal;
  readonly statuses: PodStatus[];
}

function newNode(seed: number, notes: Notes): SimulatedNode {
  const node = new SimulatedNode({
    seed,
    nodeName: "n1",
    config: { clusterDns: ["10.96.0.10"], clusterDomain: "cluster.local" },
    machine: MACHINE,
    runtime: { latencyMs: containerdLatency(new SeededRandom(seed)) },
    decorate: (ports) => recorded(ports, notes),
  });
  // As busybox's /etc/passwd has it.
  node.images.add({ reference: IMAGE, primaryGroups: new Map([[65534n, 65534n]]) });
  return node;
}

/** Calls of runtime and image store in one journal, in the order in which they were made; posted statuses beside them. */
function recorded(ports: AgentPorts, { journal, statuses }: Notes): AgentPorts {
  const { clock, statusSink } = ports;
  const runtime = recordCalls(ports.runtime, { clock, journal, only: Object.keys(REQUESTS) as "runSandbox"[] }).port;
  const images = recordCalls(ports.images, { clock, journal, only: ["pullImage"] }).port;
  const hostNetwork = new StaticHostNetworkFiles({ resolvConfs: { "/etc/resolv.conf": "nameserver HOST_DNS\n" } });
  return {
    ...ports,
    runtime,
    images,
    hostNetwork,
    objects: recordedObjects(),
    statusSink: {
      writeStatus: (request) => {
        statuses.push(request.status);
        return statusSink.writeStatus(request);
      },
      podFinished: (request) => statusSink.podFinished(request),
    },
  };
}

function recordedObjects(): InMemoryObjects {
  const namespace = "default";
  const port = (name: string, number: number, protocol = "TCP") => ({ name, port: number, protocol });
  return new InMemoryObjects({
    configMaps: [{ namespace, name: "cm", data: { one: "1", two: "line\nline", "not.a.var-name": "x" } }],
    secrets: [{ namespace, name: "sec", data: { user: "u", pw: "p" } }],
    services: [
      { namespace, name: "kubernetes", clusterIp: "10.96.0.1", ports: [port("https", 443)] },
      { namespace, name: "web-svc", clusterIp: "10.96.0.77", ports: [port("http", 80), port("dns", 53, "UDP")] },
    ],
    runtimeClasses: [{ name: "heavy", handler: "runc" }],
  });
}

const REQUESTS: Readonly<Record<string, readonly [call: string, message: (request: never) => unknown]>> = {
  runSandbox: ["RunPodSandbox", (request) => messageToJson(runPodSandboxRequest(request))],
  stopSandbox: ["StopPodSandbox", (request) => messageToJson(stopPodSandboxRequest(request))],
  removeSandbox: ["RemovePodSandbox", (request) => messageToJson(removePodSandboxRequest(request))],
  createContainer: ["CreateContainer", (request) => messageToJson(createContainerRequest(request))],
  startContainer: ["StartContainer", (request) => messageToJson(startContainerRequest(request))],
  stopContainer: ["StopContainer", (request) => messageToJson(stopContainerRequest(request))],
  removeContainer: ["RemoveContainer", (request) => messageToJson(removeContainerRequest(request))],
  pullImage: ["PullImage", (request) => messageToJson(pullImageRequest(request))],
};

function toCri({ call, request, outcome }: RecordedCall): RecordedCri {
  const [name, message] = REQUESTS[call] ?? [call, () => ({})];
  const failed = outcome !== "ok" && outcome !== "pending";
  return {
    call: name,
    request: message(request as never) as RecordedCri["request"],
    // gRPC's UNKNOWN: what containerd answers when something below it failed.
    ...(failed && { error: outcome === "internal" ? 2 : -1 }),
  };
}

function ids(calls: readonly RecordedCall[], call: string, word: string): [string, string][] {
  return calls
    .filter((made) => made.call === call && typeof made.answer === "string")
    .map(({ answer }, index) => [String(answer), `${word}_${index}`]);
}

function counted(events: readonly NodeEvent[]): readonly RecordedEvent[] {
  const counts = new Map<string, RecordedEvent>();
  for (const { type, reason, message, involved } of events) {
    const { fieldPath } = involved;
    const key = JSON.stringify([type, reason, message, fieldPath]);
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { type, reason, message, count, ...(fieldPath !== undefined && { fieldPath }) });
  }
  return [...counts.values()];
}

/** The pod with a UID and addresses in place of what stands for them. */
function withUid(pod: Pod, uid: string): Pod {
  const { creationTimestamp: _time, ...metadata } = pod.metadata ?? {};
  const text = JSON.stringify({ ...pod, metadata: { ...metadata, uid } });
  return JSON.parse(text.replaceAll("HOST_IP", NODE_IP)) as Pod;
}
