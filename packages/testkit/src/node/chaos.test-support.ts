import type { Container, Pod, PodStatus } from "@nodelet/core";
import { FaultPlan } from "../faults/fault-plan.ts";
import { withFaults } from "../faults/with-faults.ts";
import type { SeededRandom } from "../random/seeded-random.ts";
import { SeededRandom as Random } from "../random/seeded-random.ts";
import { containerdLatency } from "../runtime/runtime-options.ts";
import { judgeEmpty, judgeLeftovers, judgePod } from "./chaos-judge.test-support.ts";
import { ChaosManifests } from "./chaos-manifests.test-support.ts";
import { IMAGE, PULLED, randomEphemeral, randomSpec, SLOW } from "./chaos-pods.test-support.ts";
import { SimulatedNode } from "./simulated-node.ts";

/** How long trouble is made, and how long the node gets to settle: the longest back-off (5 min) twice, and a runtime deadline (2 min). */
const TROUBLE_MS = 4 * 60_000;
const SETTLE_MS = 14 * 60_000;
/** At its end a settled pod makes few calls: what crashes is in its longest back-off. */
const LAST_MS = 60_000;
const LAST_CALLS = 12;
const NODE_NAME = "node-1";
const FOREIGN = "f0f0f0f0-0000-4000-8000-000000000000";

/** One run of random pods and random trouble under a seed, and what must hold at its end. */
export class Chaos {
  readonly node: SimulatedNode;
  readonly problems: string[] = [];
  readonly #random: SeededRandom;
  readonly #faults: FaultPlan;
  readonly #manifests: ChaosManifests;
  /** Whether the agent takes over what other agents made. */
  readonly #takeOver: boolean;
  /** Newest phase seen of each pod UID. */
  readonly #phases = new Map<string, string>();
  readonly #restarts = new Map<string, number>();
  #named = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#takeOver = this.#random.chance(0.2);
    this.#manifests = new ChaosManifests({
      random: this.#random.fork("manifests"),
      clock: () => this.node.clock,
      nodeName: NODE_NAME,
    });
    const pulls = this.#random.fork("pulls");
    this.node = new SimulatedNode({
      seed,
      nodeName: NODE_NAME,
      config: { takeOver: this.#takeOver },
      runtime: { latencyMs: containerdLatency(this.#random.fork("latency")) },
      images: { pullMs: (reference) => (reference === SLOW ? pulls.int({ min: 1000, max: 200_000 }) : 0) },
      sources: [this.#manifests.source],
      decorate: (ports) => ({
        ...ports,
        runtime: withFaults(ports.runtime, this.#faults),
        images: withFaults(ports.images, this.#faults),
        podFiles: withFaults(ports.podFiles, this.#faults),
        containerLogs: withFaults(ports.containerLogs, this.#faults),
        cgroups: withFaults(ports.cgroups, this.#faults),
        state: withFaults(ports.state, this.#faults),
        statusSink: withFaults(ports.statusSink, this.#faults),
      }),
    });
    this.#faults = new FaultPlan({ clock: this.node.clock, random: this.#random.fork("faults") });
    this.node.images.add(IMAGE);
    for (const image of [IMAGE, PULLED, SLOW]) this.node.images.offer(image);
  }

  /** Makes trouble, lets the node settle, and answers what does not hold. */
  async run(): Promise<readonly string[]> {
    const { node } = this;
    await this.#makeForeignPod();
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
    await node.clock.advance(SETTLE_MS - LAST_MS);
    node.runtime.clearCalls();
    await node.clock.advance(LAST_MS);
    this.#judge();
    for (const { name } of this.#pods()) node.pods.delete({ name });
    this.#manifests.clear();
    await node.clock.advance(SETTLE_MS);
    this.#judgeEmpty();
    node.kill();
    this.#manifests.endLives();
    return this.problems;
  }

  async #trouble(): Promise<void> {
    const { node } = this;
    const random = this.#random;
    const kinds: (() => void | Promise<void>)[] = [
      () => this.#apply(),
      () => this.#apply(),
      () => this.#apply(),
      () => this.#manifests.change(),
      () => this.#manifests.change(),
      () => this.#manifests.change(),
      () => this.#delete({}),
      () => this.#delete({ graceSeconds: random.int({ min: 0, max: 5 }) }),
      () => this.#delete({ force: true }),
      () => this.#edit(),
      () => this.#debug(),
      () => this.#killAgent(),
      () => this.#stopAgent(),
      () => node.runtime.restartDaemon({ downMs: random.int({ min: 10, max: 20_000 }) }),
      () => node.runtime.reboot(),
      () => this.#behindTheBack(),
      () => this.#behindTheBack(),
      () => this.#hang(),
      () => this.#addFault(),
      () => this.#addFault(),
      () => this.#faults.clear(),
      () => node.clock.jumpWall(random.int({ min: -3_600_000, max: 3_600_000 })),
    ];
    await random.pick(kinds)();
  }

  /** A pod of another agent on the same runtime. */
  async #makeForeignPod(): Promise<void> {
    const labels = {
      "io.kubernetes.pod.uid": FOREIGN,
      "io.kubernetes.pod.name": "theirs",
      "io.kubernetes.pod.namespace": "default",
    };
    const metadata = { name: "theirs", namespace: "default", uid: FOREIGN, attempt: 0 };
    await this.node.clock.drive(this.node.runtime.runSandbox({ config: { metadata, labels }, runtimeHandler: "" }));
  }

  #apply(): void {
    if (this.#pods().length >= 6) return;
    this.#named += 1;
    const metadata = { name: `pod-${this.#named}`, namespace: "default" };
    this.node.pods.apply({ metadata, spec: randomSpec(this.#random) });
  }

  #delete(options: { readonly graceSeconds?: number; readonly force?: boolean }): void {
    const pod = this.#anyPod();
    if (pod !== undefined) this.node.pods.delete({ name: pod.name, ...options });
  }

  #edit(): void {
    const pod = this.#anyPod();
    if (pod === undefined || pod.pod.metadata?.deletionTimestamp !== undefined) return;
    const containers = (pod.pod.spec?.containers ?? []).map((container: Container) => ({
      ...container,
      image: this.#random.pick([IMAGE, PULLED, SLOW]),
    }));
    const { status: _status, ...rest } = pod.pod;
    this.node.pods.apply({ ...rest, spec: { ...pod.pod.spec, containers } });
  }

  #debug(): void {
    const pod = this.#anyPod();
    if (pod === undefined || pod.pod.metadata?.deletionTimestamp !== undefined) return;
    this.#named += 1;
    const container = randomEphemeral(this.#random, `debug-${this.#named}`);
    this.node.pods.addEphemeralContainer({ name: pod.name, container });
  }

  async #killAgent(): Promise<void> {
    const { node } = this;
    if (node.running) node.kill();
    this.#manifests.endLives();
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
    const sandboxes = runtime.sandboxes().filter(({ metadata }) => metadata.uid !== FOREIGN);
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

  /** Whatever is asked about one pod or one of its containers hangs for a while, and may take effect after all. */
  #hang(): void {
    const { runtime } = this.node;
    const random = this.#random;
    const ids = [...this.#pods().map(({ uid }) => uid), ...runtime.containers().map(({ id }) => id)];
    if (ids.length === 0) return;
    const hang = runtime.hang({
      id: random.pick(ids),
      times: random.int({ min: 1, max: 10 }),
      forMs: random.int({ min: 1000, max: 150_000 }),
      takesEffect: random.chance(0.5),
    });
    this.node.clock.setTimer(TROUBLE_MS, () => hang.release());
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
      ["highestAttempt", "link", "unlink", "listPodLogs", "removePodLogs", "removeDanglingLinks"],
      // Of the cgroups; of the state.
      ["ensure", "destroy", "children", "exists"],
      ["write"],
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

  /** A terminal phase is never left, a restart count never goes down. Static pods may come back under their UID, as if they were new. */
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
      if (request.pod.metadata?.annotations?.["kubernetes.io/config.source"] === "api")
        check(request.pod, request.status);
      return write(request);
    };
  }

  #judge(): void {
    const { node, problems } = this;
    this.#judgeRuntime();
    const statics = node.agent
      .pods()
      .filter(({ pod }) => pod.metadata?.annotations?.["kubernetes.io/config.source"] === "file");
    const expected = this.#manifests.podNames.map((name) => `${name}-${NODE_NAME}`).sort();
    const found = statics.map(({ pod }) => pod.metadata?.name ?? "").sort();
    if (found.join() !== expected.join())
      problems.push(`static pods are ${found.join(", ")} and should be ${expected.join(", ")}`);
    for (const { pod, phase } of statics)
      if (phase === "waiting" || phase === "rejected") problems.push(`static pod ${pod.metadata?.name} is ${phase}`);
    const judged = [...statics, ...this.#pods().map(({ pod }) => ({ pod, status: pod.status }))];
    for (const pod of judged) problems.push(...judgePod(node, pod));
    const { calls } = node.runtime;
    if (calls.length > LAST_CALLS * (judged.length + 1))
      problems.push(`${calls.length} calls in the last minute for ${judged.length} pods`);
    const wanted = judged.map(({ pod }) => pod.metadata?.uid ?? "");
    problems.push(...judgeLeftovers(node, new Set([...wanted, ...this.#foreign()])));
  }

  #judgeRuntime(): void {
    const { runtime, invariants } = this.node;
    for (const violation of invariants.violations) this.problems.push(`${violation.rule}: ${violation.detail}`);
    const isThere = runtime.sandboxes().some(({ metadata }) => metadata.uid === FOREIGN);
    if (isThere === this.#takeOver)
      this.problems.push(`another agent's pod is ${isThere ? "left" : "gone"} although takeOver is ${this.#takeOver}`);
  }

  #judgeEmpty(): void {
    this.#judgeRuntime();
    const left = this.#pods().map(({ name }) => name);
    if (left.length > 0) this.problems.push(`pods are left: ${left.join(", ")}`);
    this.problems.push(...judgeEmpty(this.node, new Set(this.#foreign())));
  }

  #foreign(): readonly string[] {
    return this.#takeOver ? [] : [FOREIGN];
  }

  #pods(): readonly { readonly name: string; readonly uid: string; readonly pod: Pod }[] {
    return this.node.pods.list().map((pod) => ({ name: pod.metadata?.name ?? "", uid: pod.metadata?.uid ?? "", pod }));
  }

  #anyPod(): { readonly name: string; readonly pod: Pod } | undefined {
    const pods = this.#pods();
    return pods.length === 0 ? undefined : this.#random.pick(pods);
  }
}
