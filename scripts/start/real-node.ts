import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CgroupfsManager } from "@nodelet/cgroups-adapter";
import { prepareNode, useRuntime } from "@nodelet/dev-node";
import { acquireLock } from "@nodelet/lib-native";
import { AgentProcess } from "./agent-process.ts";
import { type DemoNode, type Say, StartProblem } from "./demo-node.ts";
import { refuseForeignPods, refuseToForget } from "./foreign-pods.ts";
import { freePort } from "./free-port.ts";
import { furnish, type Place, placeIn, pointManifestsTo } from "./place.ts";

/** The node's name; static pods carry it behind theirs. */
const NODE_NAME = "nodelet";
const WITHOUT = "What works without containers: npm start -- --simulate";

/** How a real node is made. */
export interface RealNodeOptions {
  readonly root: string;
  readonly manifests: string;
  readonly runtimeEndpoint: string | undefined;
  readonly containerd: "1.6" | "2.1";
  readonly say: Say;
}

/** A runtime to run pods on. */
interface DemoRuntime {
  readonly endpoint: string;
  readonly cgroupRoot: string;
  readonly name: string;
  close(): Promise<void>;
}

/** Gets a runtime, starts the agent on it and answers when it is up. What was begun is taken down again when something fails. */
export async function startRealNode(options: RealNodeOptions): Promise<DemoNode> {
  requireMachine();
  const place = placeIn(options.root);
  const undo: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    const problems: unknown[] = [];
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step().catch((error: unknown) => problems.push(error));
    }
    if (problems.length > 0) throw problems[0];
  };
  try {
    undo.push(await lockPlace(place));
    await refuseToForget({ endpoint: options.runtimeEndpoint, place });
    const runtime = await getRuntime(options, place);
    undo.push(() => runtime.close());
    // Removed only after the runtime is gone, and only without pods: their directories are how a later start knows them.
    undo.splice(1, 0, () => rm(place.agentDir, { recursive: true, force: true }));
    const { agent, readOnlyPort } = await startAgent({ ...options, place, runtime });
    undo.push(() => agent.stop());
    return {
      window: agent.client,
      title: `nodelet on ${runtime.name}, node ${NODE_NAME}`,
      hints: hintsFor({ ...options, place, readOnlyPort }),
      failure: agent.failure,
      withdrawPods: async () => {
        const empty = join(place.agentDir, "no-manifests");
        await mkdir(empty, { recursive: true });
        await pointManifestsTo(place, empty);
      },
      close,
    };
  } catch (error) {
    await close().catch((cause: unknown) => options.say(`While cleaning up: ${String(cause)}`));
    throw error;
  }
}

function requireMachine(): void {
  if (process.platform !== "linux")
    throw new StartProblem(`Real containers need Linux, and this is ${process.platform}.\n${WITHOUT}`);
  if (process.getuid?.() !== 0)
    throw new StartProblem(
      `Real containers need root, and this is user ${process.getuid?.()}: sudo npm start\n${WITHOUT}`,
    );
}

async function lockPlace(place: Place): Promise<() => Promise<void>> {
  await mkdir(place.base, { recursive: true });
  const outcome = await acquireLock({ path: place.lockPath, details: {} });
  if (!outcome.held) {
    const who = outcome.holder === undefined ? "" : ` (process ${outcome.holder.pid})`;
    throw new StartProblem(`npm start runs already in this folder${who}: end it first`);
  }
  return async () => outcome.lock.release();
}

async function getRuntime(options: RealNodeOptions, place: Place): Promise<DemoRuntime> {
  const { runtimeEndpoint: endpoint, say, containerd } = options;
  if (endpoint !== undefined) {
    await refuseForeignPods({ endpoint, place });
    const used = await useRuntime({ endpoint, log: say });
    await mkdir(place.agentDir, { recursive: true });
    await writeFile(place.runtimeNote, `${endpoint}\n`);
    return {
      endpoint,
      cgroupRoot: "nodelet-start",
      name: `the containerd at ${endpoint}`,
      close: async () => {
        await (await CgroupfsManager.discover()).destroy({ name: ["nodelet-start"] });
        await used.close();
      },
    };
  }
  say("Getting a containerd of our own ready ...");
  const node = await prepareNode({ dir: place.containerdDir, version: containerd, log: (line) => say(`  ${line}`) });
  // A new containerd has no pods: whatever a killed start left of its agent is of no use.
  await rm(place.agentDir, { recursive: true, force: true });
  return {
    endpoint: node.endpoint,
    cgroupRoot: node.containerd.cgroupRoot,
    name: `containerd ${node.containerd.version} of its own`,
    close: () => node.close(),
  };
}

async function startAgent(options: {
  readonly root: string;
  readonly manifests: string;
  readonly place: Place;
  readonly runtime: DemoRuntime;
}): Promise<{ readonly agent: AgentProcess; readonly readOnlyPort: number }> {
  const { root, place, runtime } = options;
  const ports = { healthz: await freePort(), readOnly: await freePort() };
  await furnish(place, { manifests: resolve(options.manifests), ports });
  const agent = await AgentProcess.start({
    root,
    place,
    args: [
      `--config=${place.configPath}`,
      `--root-dir=${place.rootDir}`,
      `--container-links-dir=${join(place.agentDir, "container-links")}`,
      `--container-runtime-endpoint=${runtime.endpoint}`,
      `--cgroup-root=${runtime.cgroupRoot}`,
      `--hostname-override=${NODE_NAME}`,
      "--v=2",
    ],
  });
  return { agent, readOnlyPort: ports.readOnly };
}

function hintsFor(options: {
  readonly manifests: string;
  readonly place: Place;
  readonly readOnlyPort: number;
}): readonly string[] {
  const { place } = options;
  return [
    `pods:     ${options.manifests} (edit, add, remove them while this runs)`,
    `why:      node packages/cli/bin/nodelet.js explain web-${NODE_NAME} --root-dir ${place.rootDir}`,
    `as JSON:  curl http://127.0.0.1:${options.readOnlyPort}/pods`,
    `log:      ${place.logPath}`,
    "Ctrl-C stops the pods, the agent and containerd, and leaves nothing behind",
  ];
}
