import { mkdir, rm, writeFile } from "node:fs/promises";
import { CgroupfsManager } from "@nodelet/cgroups-adapter";
import type { ContainerConfig, SandboxConfig } from "@nodelet/core";
import { type CriAdapter, createCriAdapter } from "@nodelet/cri-adapter";
import { SystemClock } from "@nodelet/host-adapter";
import { type BenchPod, CONTAINER, GRACE_SECONDS, IMAGE, NAMESPACE, podsOf, type Workload } from "./workload.ts";

interface FloorPod {
  readonly uid: string;
  readonly sandboxId: string;
  readonly containerId: string;
}

/** Where the floor puts what it needs. */
export interface RawFloorOptions {
  readonly endpoint: string;
  /** Top-level cgroup of the node. */
  readonly cgroupRoot: string;
  /** A folder of its own for hosts files, termination logs and container logs. */
  readonly dir: string;
}

/**
 * The least that a runtime needs for pods: RunPodSandbox, CreateContainer, StartContainer for each pod, all pods at once, with the requests that
 * an agent makes; then StopContainer, StopPodSandbox, RemoveContainer, RemovePodSandbox. No looks, no decisions. Files are there beforehand.
 */
export class RawFloor {
  readonly #options: RawFloorOptions;
  readonly #adapter: CriAdapter;
  #cgroups: CgroupfsManager | undefined;
  #running: readonly FloorPod[] = [];

  constructor(options: RawFloorOptions) {
    this.#options = options;
    this.#adapter = createCriAdapter({ runtimeEndpoint: options.endpoint, clock: new SystemClock() });
  }

  /** Milliseconds from the first call to the last pod's running process. */
  async start(workload: Workload): Promise<number> {
    const pods = podsOf(workload);
    for (const pod of pods) await this.#makeFiles(pod);
    // The connection is there for an agent, too.
    await this.#adapter.runtime.version();
    const beganMs = performance.now();
    this.#running = await Promise.all(pods.map((pod) => this.#startPod(pod)));
    return performance.now() - beganMs;
  }

  /** Milliseconds from the first call until the last sandbox is removed. */
  async remove(): Promise<number> {
    const beganMs = performance.now();
    await Promise.all(this.#running.map((pod) => this.#removePod(pod)));
    const elapsedMs = performance.now() - beganMs;
    for (const { uid } of this.#running) await this.#removeCgroup(uid);
    this.#running = [];
    await rm(this.#options.dir, { recursive: true, force: true });
    return elapsedMs;
  }

  close(): void {
    this.#adapter.close();
  }

  async #startPod(pod: BenchPod): Promise<FloorPod> {
    const { runtime } = this.#adapter;
    const sandboxConfig = this.#sandboxConfig(pod);
    const sandboxId = await runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "" });
    const config = this.#containerConfig(pod);
    const containerId = await runtime.createContainer({ sandboxId, config, sandboxConfig });
    await runtime.startContainer({ containerId });
    return { uid: pod.uid, sandboxId, containerId };
  }

  async #removePod({ sandboxId, containerId }: FloorPod): Promise<void> {
    const { runtime } = this.#adapter;
    const stop = (): Promise<void> => runtime.stopContainer({ containerId, timeoutSeconds: GRACE_SECONDS });
    // A process that ends at once can take its shim with it while the signal is on its way ("ttrpc: closed"): the second call finds it ended.
    await stop().catch(stop);
    await runtime.stopSandbox({ sandboxId });
    await runtime.removeContainer({ containerId });
    await runtime.removeSandbox({ sandboxId });
  }

  /** The runtime made it for its containers, and leaves it. */
  async #removeCgroup(uid: string): Promise<void> {
    this.#cgroups ??= await CgroupfsManager.discover();
    await this.#cgroups.destroy({ name: [this.#options.cgroupRoot, "kubepods", "besteffort", `pod${uid}`] });
  }

  #podDir(pod: BenchPod): string {
    return `${this.#options.dir}/${pod.name}`;
  }

  async #makeFiles(pod: BenchPod): Promise<void> {
    const dir = this.#podDir(pod);
    await mkdir(`${dir}/logs/${CONTAINER}`, { recursive: true });
    await writeFile(`${dir}/etc-hosts`, "127.0.0.1\tlocalhost\n");
    await writeFile(`${dir}/termination-log`, "");
  }

  #sandboxConfig(pod: BenchPod): SandboxConfig {
    return {
      metadata: { name: pod.name, uid: pod.uid, namespace: NAMESPACE, attempt: 0 },
      hostname: pod.name,
      logDirectory: `${this.#podDir(pod)}/logs`,
      dnsConfig: { servers: ["10.96.0.10"], searches: ["default.svc.cluster.local"], options: ["ndots:5"] },
      labels: { ...labelsOf(pod), bench: "startup" },
      annotations: {
        "kubernetes.io/config.hash": pod.uid,
        "kubernetes.io/config.seen": "2026-01-01T00:00:00.000000000Z",
        "kubernetes.io/config.source": "file",
      },
      linux: {
        cgroupParent: `/${this.#options.cgroupRoot}/kubepods/besteffort/pod${pod.uid}`,
        securityContext: {
          namespaceOptions: { network: "POD", pid: "CONTAINER", ipc: "POD" },
          seccomp: { profileType: "RuntimeDefault" },
        },
        resources: { cpuShares: 2n },
      },
    };
  }

  #containerConfig(pod: BenchPod): ContainerConfig {
    const dir = this.#podDir(pod);
    return {
      metadata: { name: CONTAINER, attempt: 0 },
      image: { image: IMAGE, userSpecifiedImage: IMAGE },
      command: pod.command,
      mounts: [
        { containerPath: "/etc/hosts", hostPath: `${dir}/etc-hosts` },
        { containerPath: "/dev/termination-log", hostPath: `${dir}/termination-log` },
      ],
      labels: { ...labelsOf(pod), "io.kubernetes.container.name": CONTAINER },
      annotations: {
        "io.kubernetes.container.hash": "8e45cbd0",
        "io.kubernetes.container.restartCount": "0",
        "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
        "io.kubernetes.container.terminationMessagePolicy": "File",
        "io.kubernetes.pod.terminationGracePeriod": String(GRACE_SECONDS),
      },
      logPath: `${CONTAINER}/0.log`,
      linux: {
        resources: { cpuShares: 2n, cpuPeriod: 100_000n, oomScoreAdj: 1000n },
        securityContext: {
          namespaceOptions: { network: "POD", pid: "CONTAINER", ipc: "POD" },
          runAsUser: 0n,
          seccomp: { profileType: "Unconfined" },
        },
      },
    };
  }
}

function labelsOf(pod: BenchPod): Record<string, string> {
  return {
    "io.kubernetes.pod.name": pod.name,
    "io.kubernetes.pod.namespace": NAMESPACE,
    "io.kubernetes.pod.uid": pod.uid,
  };
}
