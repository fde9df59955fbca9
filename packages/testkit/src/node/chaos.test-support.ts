import type { Container, Pod, PodStatus } from "@nodelet/core";
import { FaultPlan } from "../faults/fault-plan.ts";
import { withFaults } from "../faults/with-faults.ts";
import type { SeededRandom } from "../random/seeded-random.ts";
import { SeededRandom as Random } from "../random/seeded-random.ts";
import { containerdLatency } from "../runtime/runtime-options.ts";
import { SimulatedNode } from "./simulated-node.ts";

/** How long trouble is made, and how long the node gets to settle: the longest back-off (5 min) twice, and a runtime deadline (2 min). */
const TROUBLE_MS = 4 * 60_000;
const SETTLE_MS = 14 * 60_000;

const IMAGE = "localhost/busybox:1.35";
const PULLED = "localhost/pulled:1";
const ABSENT = "localhost/absent:1";
const COMMANDS: readonly (readonly string[])[] = [
  ["server"],
  ["server"],
  ["sleep", "infinity"],
  ["sleep", "90"],
  ["sh", "-c", "exit 0"],
  ["sh", "-c", "exit 3"],
  ["/no/such"],
];

/** One run of random pods and random trouble under a seed, and what must hold at its end. */
export class Chaos {
  readonly node: SimulatedNode;
  readonly problems: string[] = [];
  readonly #random: SeededRandom;
  readonly #faults: FaultPlan;
  /** Newest phase seen of each pod UID. */
  readonly #phases = new Map<string, string>();
  readonly #restarts = new Map<string, number>();
  #named = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.node = new SimulatedNode({
      seed,
      runtime: { latencyMs: containerdLatency(this.#random.fork("latency")) },
      decorate: (ports) => ({
        ...ports,
        runtime: withFaults(ports.runtime, this.#faults),
        images: withFaults(ports.images, this.#faults),
        podFiles: withFaults(ports.podFiles, this.#faults),
        statusSink: withFaults(ports.statusSink, this.#faults),
      }),
    });
    this.#faults = new FaultPlan({ clock: this.node.clock, random: this.#random.fork("faults") });
    this.node.images.add(IMAGE);
    this.node.images.offer(PULLED);
  }

  /** Makes trouble, lets the node settle, and answers what does not hold. */
  async run(): Promise<readonly string[]> {
    const { node } = this;
    node.start();
    this.#watchStatuses();
    const endMs = node.clock.monotonicMs() + TROUBLE_MS;
    while (node.clock.monotonicMs() < endMs) {
      await this.#trouble();
      await node.clock.advance(this.#random.int({ min: 0, max: 20_000 }));
    }
    this.#faults.clear();
    node.runtime.startDaemon();
    if (!node.running) node.start();
    await node.clock.advance(SETTLE_MS);
    this.#judge();
    for (const { name } of this.#pods()) node.pods.delete({ name });
    await node.clock.advance(SETTLE_MS);
    this.#judgeEmpty();
    node.kill();
    return this.problems;
  }

  async #trouble(): Promise<void> {
    const { node } = this;
    const random = this.#random;
    const kinds = [
      () => this.#apply(),
      () => this.#apply(),
      () => this.#apply(),
      () => this.#delete({}),
      () => this.#delete({ graceSeconds: random.int({ min: 0, max: 5 }) }),
      () => this.#delete({ force: true }),
      () => this.#edit(),
      () => this.#killAgent(),
      () => this.#stopAgent(),
      () => node.runtime.restartDaemon({ downMs: random.int({ min: 10, max: 20_000 }) }),
      () => node.runtime.reboot(),
      () => this.#behindTheBack(),
      () => this.#behindTheBack(),
      () => this.#addFault(),
      () => this.#faults.clear(),
      () => node.clock.jumpWall(random.int({ min: -3_600_000, max: 3_600_000 })),
    ];
    await Promise.resolve(random.pick(kinds)());
  }

  #apply(): void {
    if (this.#pods().length >= 6) return;
    const random = this.#random;
    this.#named += 1;
    const names = ["a", "b", "c"].slice(0, random.int({ min: 1, max: 3 }));
    this.node.pods.apply({
      metadata: { name: `pod-${this.#named}`, namespace: "default" },
      spec: {
        restartPolicy: random.pick(["Always", "Always", "OnFailure", "Never"]),
        terminationGracePeriodSeconds: random.int({ min: 1, max: 10 }),
        hostNetwork: random.chance(0.2),
        containers: names.map((name) => this.#container(name)),
      },
    });
  }

  #container(name: string): Container {
    const random = this.#random;
    return {
      name,
      image: random.pick([IMAGE, IMAGE, IMAGE, PULLED, ABSENT]),
      command: [...random.pick(COMMANDS)],
    };
  }

  #delete(options: { readonly graceSeconds?: number; readonly force?: boolean }): void {
    const pod = this.#anyPod();
    if (pod !== undefined) this.node.pods.delete({ name: pod.name, ...options });
  }

  #edit(): void {
    const pod = this.#anyPod();
    if (pod === undefined || pod.pod.metadata?.deletionTimestamp !== undefined) return;
    const containers = (pod.pod.spec?.containers ?? []).map((container) => ({
      ...container,
      image: this.#random.pick([IMAGE, PULLED]),
    }));
    const { status: _status, ...rest } = pod.pod;
    this.node.pods.apply({ ...rest, spec: { ...pod.pod.spec, containers } });
  }

  async #killAgent(): Promise<void> {
    const { node } = this;
    if (node.running) node.kill();
    await node.clock.advance(this.#random.int({ min: 0, max: 30_000 }));
    if (!node.running) node.start();
  }

  async #stopAgent(): Promise<void> {
    const { node } = this;
    if (node.running) await node.stop();
    await node.clock.advance(this.#random.int({ min: 0, max: 5000 }));
    node.start();
  }

  #behindTheBack(): void {
    const { runtime } = this.node;
    const random = this.#random;
    const running = runtime.running();
    const sandboxes = runtime.sandboxes();
    if (running.length === 0 || sandboxes.length === 0) return;
    const containerId = random.pick(running).id;
    const sandboxId = random.pick(sandboxes).id;
    random.pick([
      () => runtime.endContainer({ containerId, exitCode: random.int({ min: 0, max: 2 }) }),
      () => runtime.oomKill(containerId),
      () => runtime.endSandbox(sandboxId),
      () => runtime.removeBehind({ id: containerId, silent: random.chance(0.5) }),
      () => runtime.removeBehind({ id: sandboxId, silent: random.chance(0.5) }),
    ])();
  }

  #addFault(): void {
    const random = this.#random;
    const calls = [
      ["runSandbox"],
      ["createContainer"],
      ["startContainer"],
      ["stopContainer"],
      ["stopSandbox"],
      ["removeContainer", "removeSandbox"],
      ["listContainers", "listSandboxes"],
      ["containerStatus", "sandboxStatus"],
      ["imageStatus", "pullImage"],
      ["ensurePod", "ensureContainer", "removePod"],
      ["writeStatus", "podFinished"],
      ["version", "status"],
    ];
    this.#faults.add({
      calls: random.pick(calls),
      probability: random.pick([0.1, 0.5, 1]),
      times: random.int({ min: 1, max: 10 }),
      fault: random.pick([
        { kind: "error", error: "internal" },
        { kind: "error", error: "unavailable" },
        { kind: "lostAnswer" },
        { kind: "delay", delayMs: random.int({ min: 1, max: 60_000 }) },
        { kind: "hang" },
      ] as const),
    });
  }

  /** A terminal phase is never left, a restart count never goes down. */
  #watchStatuses(): void {
    const check = (pod: Pod, status: PodStatus): void => {
      const uid = pod.metadata?.uid ?? "";
      const before = this.#phases.get(uid);
      const { phase = "" } = status;
      if ((before === "Succeeded" || before === "Failed") && phase !== before) {
        this.problems.push(`pod ${pod.metadata?.name} left phase ${before} for ${phase}`);
      }
      this.#phases.set(uid, phase);
      for (const { name, restartCount } of status.containerStatuses ?? []) {
        const key = `${uid}/${name}`;
        if (restartCount < (this.#restarts.get(key) ?? 0)) {
          this.problems.push(
            `restart count of ${pod.metadata?.name}/${name} fell from ${this.#restarts.get(key)} to ${restartCount}`,
          );
        }
        this.#restarts.set(key, restartCount);
      }
    };
    const { statusSink } = this.node.pods;
    const write = statusSink.writeStatus.bind(statusSink);
    statusSink.writeStatus = (request) => {
      check(request.pod, request.status);
      return write(request);
    };
  }

  #judge(): void {
    this.#judgeRuntime();
    for (const { pod } of this.#pods()) this.#judgePod(pod);
    const wanted = new Set(this.#pods().map(({ uid }) => uid));
    for (const { podUid, id } of this.node.runtime.containers())
      if (!wanted.has(podUid)) this.problems.push(`container ${id} of a pod that is gone is left`);
    for (const { metadata, id } of this.node.runtime.sandboxes())
      if (!wanted.has(metadata.uid)) this.problems.push(`sandbox ${id} of a pod that is gone is left`);
  }

  /** Containers that can run, run; what the source was told is what the runtime has. */
  #judgePod(pod: Pod): void {
    const { uid = "", name = "" } = pod.metadata ?? {};
    const { phase } = pod.status ?? {};
    const running = this.node.runtime.running().filter((container) => container.podUid === uid);
    if (phase === "Succeeded" || phase === "Failed") {
      if (running.length > 0) this.problems.push(`pod ${name} is ${phase} and ${running.length} containers run`);
      return;
    }
    // Upstream's rule: a pod with restartPolicy Never whose sandbox was lost after a container ran gets no new one.
    const serving = this.node.runtime
      .sandboxes()
      .some(({ metadata, state }) => metadata.uid === uid && state === "SANDBOX_READY");
    const stranded = pod.spec?.restartPolicy === "Never" && !serving;
    if (pod.metadata?.deletionTimestamp !== undefined) this.problems.push(`pod ${name} is still being deleted`);
    for (const container of pod.spec?.containers ?? []) {
      const [command] = container.command ?? [];
      const serves = command === "server" || container.command?.[1] === "infinity";
      if (!serves || container.image === ABSENT) continue;
      const live = running.find(({ metadata }) => metadata.name === container.name);
      const told = pod.status?.containerStatuses?.find((status) => status.name === container.name);
      const ended = told?.state?.terminated !== undefined && pod.spec?.restartPolicy !== "Always";
      if (live === undefined && !ended && !stranded)
        this.problems.push(`container ${name}/${container.name} does not run`);
      if (live !== undefined && told?.containerID !== `containerd://${live.id}`)
        this.problems.push(`status of ${name}/${container.name} tells another container than the one that runs`);
      if (live !== undefined && told?.ready !== true)
        this.problems.push(`container ${name}/${container.name} runs and is not told ready`);
    }
  }

  #judgeRuntime(): void {
    for (const violation of this.node.invariants.violations)
      this.problems.push(`${violation.rule}: ${violation.detail}`);
  }

  #judgeEmpty(): void {
    const { runtime, files, cgroups } = this.node;
    this.#judgeRuntime();
    if (this.#pods().length > 0)
      this.problems.push(
        `pods are left: ${this.#pods()
          .map(({ name }) => name)
          .join(", ")}`,
      );
    if (runtime.containers().length > 0) this.problems.push(`${runtime.containers().length} containers are left`);
    if (runtime.sandboxes().length > 0) this.problems.push(`${runtime.sandboxes().length} sandboxes are left`);
    if (runtime.ipsTaken > 0) this.problems.push(`${runtime.ipsTaken} addresses are left`);
    for (const path of ["/var/lib/kubelet/pods", "/var/log/pods", "/var/log/containers"]) {
      const left = files.list(path);
      if (left.length > 0) this.problems.push(`${path} still holds ${left.join(", ")}`);
    }
    const pods = cgroups.paths().filter((path) => /pod[0-9a-f]/.test(path));
    if (pods.length > 0) this.problems.push(`cgroups are left: ${pods.join(", ")}`);
    if (this.node.agent.pods().length > 0)
      this.problems.push(`the agent still holds ${this.node.agent.pods().length} pods`);
  }

  #pods(): readonly { readonly name: string; readonly uid: string; readonly pod: Pod }[] {
    return this.node.pods.list().map((pod) => ({ name: pod.metadata?.name ?? "", uid: pod.metadata?.uid ?? "", pod }));
  }

  #anyPod(): { readonly name: string; readonly pod: Pod } | undefined {
    const pods = this.#pods();
    return pods.length === 0 ? undefined : this.#random.pick(pods);
  }
}
