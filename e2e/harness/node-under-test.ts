import { copyFile, mkdir, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { ContainerSummary, CriContainerStatus, Pod, SandboxSummary } from "@nodelet/core";
import { type CriAdapter, createCriAdapter } from "@nodelet/cri-adapter";
import {
  type Containerd,
  type ContainerdVersion,
  type Leftover,
  type PreparedNode,
  prepareNode,
} from "@nodelet/dev-node";
import { SystemClock } from "@nodelet/host-adapter";
import { AgentUnderTest } from "./agent-under-test.ts";
import { describeAgent, describeRuntime } from "./report.ts";

const LABEL_POD_NAME = "io.kubernetes.pod.name";
const LABEL_CONTAINER_NAME = "io.kubernetes.container.name";
/** The machine is shared: what takes a second alone may take half a minute. */
const WAIT_MS = 60_000;
const LOOK_AGAIN_MS = 100;

/** What {@link NodeUnderTest.waitFor} waits for. */
export interface Wait<T> {
  /** For the failure: "the pod to be Running". */
  readonly what: string;
  /** Answers the awaited value, or undefined or false for "not yet". What it throws counts as "not yet" and is shown at the end. */
  readonly until: () => Promise<T | undefined | false> | T | undefined | false;
  readonly timeoutMs?: number;
}

/** What a pod is waited for. */
export interface PodWait {
  /** "to be Ready" */
  readonly what: string;
  readonly fits: (pod: Pod) => boolean;
  readonly timeoutMs?: number;
  /** Whose pod; the first agent's by default. */
  readonly agent?: AgentUnderTest;
}

/** A private containerd with the program under test on it. {@link NodeUnderTest.close} takes everything down, whatever happened. */
export class NodeUnderTest {
  readonly containerd: Containerd;
  readonly cri: CriAdapter;
  /** The first agent; not started yet. */
  readonly agent: AgentUnderTest;
  readonly #prepared: PreparedNode;
  readonly #agents: AgentUnderTest[] = [];
  #closing: Promise<void> | undefined;

  private constructor(prepared: PreparedNode) {
    this.#prepared = prepared;
    this.containerd = prepared.containerd;
    this.cri = createCriAdapter({ runtimeEndpoint: prepared.endpoint, clock: new SystemClock() });
    this.agent = this.addAgent({ name: "a" });
  }

  static async prepare(version: ContainerdVersion): Promise<NodeUnderTest> {
    const dir = join(tmpdir(), `nle2e-${process.pid}-${version}`);
    return new NodeUnderTest(await prepareNode({ version, dir }));
  }

  /** Another agent on the same runtime, with folders of its own; not started yet. */
  addAgent(options: { readonly name: string; readonly flags?: readonly string[] }): AgentUnderTest {
    const { endpoint, cgroupRoot, dir } = this.containerd;
    const { name, flags = [] } = options;
    // Inside the node's own folder, so that it goes with it even when this process is killed.
    const agent = new AgentUnderTest({ endpoint, cgroupRoot, dir: join(dir, "agents", name), nodeName: "n1", flags });
    this.#agents.push(agent);
    return agent;
  }

  /** Looks again and again until there is an answer. A failure shows pods, decisions, the end of the log and what the runtime has. */
  async waitFor<T>(wait: Wait<T>): Promise<T> {
    const timeoutMs = wait.timeoutMs ?? WAIT_MS;
    const endMs = performance.now() + timeoutMs;
    let last: unknown;
    for (;;) {
      try {
        const answer = await wait.until();
        if (answer !== undefined && answer !== false) return answer;
        last = undefined;
      } catch (error) {
        last = error;
      }
      if (performance.now() > endMs) break;
      await sleep(LOOK_AGAIN_MS);
    }
    const why = last === undefined ? "" : `\nlast look: ${last instanceof Error ? last.message : inspect(last)}`;
    throw new Error(`waited ${timeoutMs} ms in vain for ${wait.what}${why}\n${await this.describe()}`);
  }

  /** Waits until the agent shows the manifest's pod and it fits. */
  async waitForPod(name: string, wait: PodWait): Promise<Pod> {
    const { agent = this.agent, fits, timeoutMs } = wait;
    const until = async (): Promise<Pod | undefined> => {
      const pod = await agent.pod(name);
      return pod !== undefined && fits(pod) ? pod : undefined;
    };
    return this.waitFor({ what: `pod ${name} ${wait.what}`, until, ...(timeoutMs !== undefined && { timeoutMs }) });
  }

  async waitForReady(name: string, options: Pick<PodWait, "agent" | "timeoutMs"> = {}): Promise<Pod> {
    return this.waitForPod(name, { what: "to be Ready", fits: isReady, ...options });
  }

  /** Waits until the agent shows no pod of that manifest and the runtime has nothing of it. */
  async waitForGone(name: string, options: Pick<PodWait, "agent" | "timeoutMs"> = {}): Promise<void> {
    const { agent = this.agent, timeoutMs } = options;
    await this.waitFor({
      what: `pod ${name} to be gone`,
      until: async () => {
        const [pod, sandboxes, containers] = [
          await agent.pod(name),
          await this.sandboxes(name),
          await this.containers({ pod: name }),
        ];
        return pod === undefined && sandboxes.length === 0 && containers.length === 0;
      },
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  /** Sandboxes of a manifest's pod, newest first; of all pods without a name. */
  async sandboxes(name?: string): Promise<readonly SandboxSummary[]> {
    const found = await this.cri.runtime.listSandboxes({ labels: this.#labels({ pod: name }) });
    return [...found].sort((left, right) => Number(right.createdAtNs - left.createdAtNs));
  }

  /** Containers of a manifest's pod, or of that name in it, newest first; of all pods without a name. */
  async containers(
    of: { readonly pod?: string; readonly container?: string } = {},
  ): Promise<readonly ContainerSummary[]> {
    const found = await this.cri.runtime.listContainers({ labels: this.#labels(of) });
    return [...found].sort((left, right) => Number(right.createdAtNs - left.createdAtNs));
  }

  /** The newest container's status in the runtime. */
  async containerStatus(of: { readonly pod: string; readonly container: string }): Promise<CriContainerStatus> {
    const [newest] = await this.containers(of);
    if (newest === undefined) throw new Error(`the runtime has no container ${of.container} of pod ${of.pod}`);
    return this.cri.runtime.containerStatus({ containerId: newest.id });
  }

  /** What the machine still has of pods: runtime, cgroups, mounts, directories, logs, links. Of one UID, or of all pods. */
  async leftovers(uid?: string): Promise<string[]> {
    const mine = (text: string): boolean => uid === undefined || text.includes(uid);
    const mountRoots = this.#agents.map(({ dirs }) => dirs.root);
    const machine = await this.containerd.listLeftovers({ mountRoots, ...(uid !== undefined && { uid }) });
    const found = machine.filter((leftover) => !isStanding(leftover, this.containerd.cgroupRoot)).map(describe);
    for (const sandbox of await this.sandboxes())
      if (mine(sandbox.metadata.uid)) found.push(`sandbox ${sandbox.id} of ${sandbox.metadata.name}`);
    for (const container of await this.containers())
      if (mine(container.labels["io.kubernetes.pod.uid"] ?? ""))
        found.push(`container ${container.id} ${container.metadata.name}`);
    for (const { dirs } of this.#agents) {
      for (const folder of [join(dirs.root, "pods"), dirs.logs])
        found.push(...(await entries(folder)).filter(mine).map((name) => join(folder, name)));
      // A link's name holds the pod's name and not its UID.
      if (uid === undefined) found.push(...(await entries(dirs.links)).map((name) => join(dirs.links, name)));
    }
    return found;
  }

  /** Waits until {@link leftovers} finds nothing: the last of a pod goes a moment after its sandbox. */
  async waitForNothingLeft(
    of: {
      readonly uid?: string | undefined;
      /** True for what may be left. */
      readonly except?: (left: string) => boolean;
    } = {},
  ): Promise<void> {
    const { uid, except = () => false } = of;
    await this.waitFor({
      what: `nothing of ${uid ?? "any pod"} to be left`,
      until: async () => {
        const left = (await this.leftovers(uid)).filter((what) => !except(what));
        if (left.length > 0) throw new Error([...left.slice(0, 30), `${left.length} in all`].join("\n"));
        return true;
      },
    });
  }

  /** Everything that helps to understand a failure. */
  async describe(): Promise<string> {
    const agents = await Promise.all(this.#agents.map((agent) => describeAgent(agent)));
    return [...agents, await describeRuntime(this.cri)].join("\n");
  }

  /** Ends agents, pods and containerd, and removes all that they had. Idempotent. */
  async close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** NODELET_E2E_LOGS names a folder in which to look afterwards. */
  async #keepLogs(): Promise<void> {
    const folder = process.env["NODELET_E2E_LOGS"];
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true });
    const { dir, logPath } = this.containerd;
    await copyFile(logPath, join(folder, `${basename(dir)}-containerd.log`));
    for (const { logPath: path } of this.#agents)
      await copyFile(path, join(folder, `${basename(dir)}-agent-${basename(dirname(path))}.log`)).catch(
        () => undefined,
      );
  }

  #labels(of: { readonly pod?: string | undefined; readonly container?: string | undefined }): Record<string, string> {
    return {
      ...(of.pod !== undefined && { [LABEL_POD_NAME]: this.agent.podName(of.pod) }),
      ...(of.container !== undefined && { [LABEL_CONTAINER_NAME]: of.container }),
    };
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.kill9()));
    this.cri.close();
    await this.#keepLogs().catch((error: unknown) => console.error(error));
    await this.#prepared.close();
  }
}

/**
 * For {@link NodeUnderTest.waitForNothingLeft}. A StartContainer or RunPodSandbox that ends with its client's death makes containerd forget a shim
 * and what belongs to it: its bundle with the root file system, its socket, runc's folder. 2.1 forgets a shim, too, when a sandbox's own process
 * was killed. Nothing over CRI shows them, and any client has the same. No process runs in them: the pod's cgroup is gone.
 */
export function isForgottenByContainerd(left: string): boolean {
  const kept = [
    /^shim /,
    /^socket /,
    /\/runc\/k8s\.io\/[0-9a-f]{64}$/,
    /\/io\.containerd\.runtime\.v2\.task\/k8s\.io\/[0-9a-f]{64}(\/rootfs)?$/,
  ];
  return kept.some((pattern) => pattern.test(left));
}

/** A pod whose condition Ready is true. */
export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** The first container's state in the pod's status, or the named one's. */
export function stateOf(pod: Pod, container?: string) {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses];
  return container === undefined ? all[0] : all.find(({ name }) => name === container);
}

function describe({ kind, what }: Leftover): string {
  return `${kind} ${what}`;
}

/** Cgroups that stay for the node's whole life: the root that was given, and those of kubepods and the classes. */
function isStanding({ kind, what }: Leftover, cgroupRoot: string): boolean {
  const pattern = new RegExp(`/${cgroupRoot}(/kubepods(/(burstable|besteffort))?)?$`);
  return kind === "cgroup" && pattern.test(what);
}

async function entries(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}
