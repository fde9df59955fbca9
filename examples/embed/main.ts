import { createAgent, decodeStaticPods, defaultAgentConfig, type PodSource, type PodSourceRun } from "@nodelet/core";
import { SystemClock } from "@nodelet/host-adapter";
import { inMemoryPorts } from "@nodelet/testkit";

const words = process.argv.length > 2 ? process.argv.slice(2) : ["web", "worker"];

/** A pod source of one's own: one pod for each word of the command line. */
class WordSource implements PodSource {
  readonly name = "words";

  async run({ onPods, signal }: PodSourceRun): Promise<void> {
    const spec = { containers: [{ name: "app", image: "localhost/app:1" }] };
    const items = words.map((name) => ({ metadata: { name }, spec }));
    const bytes = JSON.stringify({ apiVersion: "v1", kind: "PodList", items });
    onPods(decodeStaticPods({ bytes, origin: { kind: "url", location: "words:" }, nodeName: "embedded" }).pods);
    await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
  }
}

const agent = createAgent({
  config: defaultAgentConfig("embedded"),
  ports: inMemoryPorts({ clock: new SystemClock(), images: { present: ["localhost/app:1"] } }),
  sources: [new WordSource()],
});
const stop = new AbortController();
const running = new Set<string>();
agent.onPodChange(() => {
  for (const { pod, status } of agent.pods()) {
    const name = pod.metadata?.name ?? "";
    if (status?.phase !== "Running" || running.has(name)) continue;
    console.log(`${name} is Running at ${status.podIP}`);
    if (running.add(name).size === words.length) stop.abort();
  }
});
await agent.run(stop.signal);
console.log("stopped; the pods would run on in a real runtime");
