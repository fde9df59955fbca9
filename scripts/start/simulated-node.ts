import {
  type Agent,
  createAgent,
  DirectoryPodSource,
  defaultAgentConfig,
  type Pod,
  type PodSource,
  type PodSourceRun,
  standalonePorts,
} from "@nodelet/core";
import { CryptoRandom, InotifyDirectoryWatch, SystemClock } from "@nodelet/host-adapter";
import { containerdLatency, inMemoryPorts, RecordingEventSink, SeededRandom, silentLogger } from "@nodelet/testkit";
import type { DemoNode } from "./demo-node.ts";
import { simulatedPrograms } from "./simulated-programs.ts";

const NODE_NAME = "nodelet";
const IMAGES = [
  { reference: "localhost/busybox:1", command: ["sh"] },
  { reference: "localhost/app:1", entrypoint: ["/app/serve"], command: ["8080"], uid: 65_534n },
];

/** An agent in this process, on a runtime in memory, under the real clock: everything above the ports is what runs on a real node. */
export function startSimulatedNode(options: { readonly manifests: string }): DemoNode {
  const clock = new SystemClock();
  const logger = silentLogger;
  const directory = new DirectoryPodSource({
    watch: new InotifyDirectoryWatch(),
    clock,
    logger,
    path: options.manifests,
    nodeName: NODE_NAME,
    fileCheckFrequencyMs: 2000,
  });
  const source = new WithdrawableSource(directory);
  const random = new SeededRandom(Date.now());
  const memory = inMemoryPorts({
    clock,
    random,
    images: { present: IMAGES },
    runtime: { programs: simulatedPrograms, latencyMs: containerdLatency(random.fork("latency")) },
  });
  const agent = createAgent({
    config: defaultAgentConfig(NODE_NAME),
    ports: {
      ...memory,
      ...standalonePorts({ logger }),
      events: new RecordingEventSink({ limit: 100 }),
      random: new CryptoRandom(),
      logger,
    },
    sources: [source],
  });
  const stop = new AbortController();
  const failure = agent.run(stop.signal).then(() => new Promise<never>(() => {}));
  failure.catch(() => undefined);
  return {
    window: windowOf(agent),
    title: "nodelet, simulated: the agent is real, the runtime and the machine are in memory",
    hints: [`pods: ${options.manifests} (edit them while this runs)`, "Ctrl-C ends it"],
    failure,
    withdrawPods: async () => source.withdraw(),
    close: async () => {
      stop.abort();
      await agent.done;
    },
  };
}

function windowOf(agent: Agent): DemoNode["window"] {
  let ready = false;
  void agent.ready.then(() => {
    ready = true;
  });
  return {
    pods: async () => agent.pods().map(({ pod, status }): Pod => ({ ...pod, ...(status !== undefined && { status }) })),
    decisions: async () => agent.decisions.list(),
    status: async () => ({
      ready,
      work: Object.fromEntries(agent.pods().map(({ pod, phase }) => [pod.metadata?.uid ?? "", phase])),
    }),
  };
}

/** A source whose pods can be taken away while it runs. */
class WithdrawableSource implements PodSource {
  readonly name: string;
  readonly #inner: PodSource;
  readonly #withdrawn = new AbortController();
  #onPods: ((pods: readonly Pod[]) => void) | undefined;

  constructor(inner: PodSource) {
    this.name = inner.name;
    this.#inner = inner;
  }

  async run(options: PodSourceRun): Promise<void> {
    this.#onPods = options.onPods;
    await this.#inner.run({
      ...options,
      onPods: (pods) => {
        if (!this.#withdrawn.signal.aborted) options.onPods(pods);
      },
    });
  }

  /** From now on the source wants no pods. */
  withdraw(): void {
    this.#withdrawn.abort();
    this.#onPods?.([]);
  }
}
