import { fileURLToPath } from "node:url";
import { NodeletError } from "@nodelet/core";
import { DevNodeError } from "@nodelet/dev-node";
import { type DemoNode, StartProblem } from "./start/demo-node.ts";
import { readOptions, type StartOptions, usage } from "./start/options.ts";
import { PodScreen } from "./start/pod-screen.ts";
import { watchGone, watchUntil } from "./start/watch-pods.ts";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** Ctrl-C once: stop and clean up. Twice: do not wait for the pods. Three times: leave everything to the next start. */
function interruptions(): { readonly stop: AbortSignal; readonly hurry: AbortSignal } {
  const stop = new AbortController();
  const hurry = new AbortController();
  const onSignal = (): void => {
    if (!stop.signal.aborted) stop.abort();
    else if (!hurry.signal.aborted) hurry.abort();
    else process.exit(130);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  return { stop: stop.signal, hurry: hurry.signal };
}

async function startNode(options: StartOptions, say: (line: string) => void): Promise<DemoNode> {
  const manifests = options.manifests ?? `${root}/examples/pods`;
  if (options.simulate) {
    const { startSimulatedNode } = await import("./start/simulated-node.ts");
    return startSimulatedNode({ manifests });
  }
  const { startRealNode } = await import("./start/real-node.ts");
  return startRealNode({ ...options, root, manifests, say });
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { stop, hurry } = interruptions();
  const screen = new PodScreen({ stream: process.stdout, nowMs: () => Date.now() });
  const startMs = performance.now();
  const node = await startNode(options, (line) => screen.say(line));
  let code = 0;
  try {
    await watchUntil({ node, screen, stop, exitWhenReady: options.exitWhenReady });
    const left = await watchGone({ node, screen, hurry });
    if (left.length > 0)
      screen.say(`These pods have not ended by themselves and are removed by force: ${left.join(", ")}`);
  } catch (error) {
    screen.close();
    code = 1;
    process.stderr.write(`${describe(error)}\n`);
  } finally {
    screen.close();
    await node.close();
  }
  if (code === 0) screen.say(`Everything is taken down, after ${Math.round((performance.now() - startMs) / 1000)} s.`);
  return code;
}

/** What people can set right is shown as one sentence; everything else with its place. */
function describe(error: unknown): string {
  if (error instanceof StartProblem || error instanceof DevNodeError || NodeletError.is(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${describe(error)}\n`);
    process.exit(1);
  },
);
