import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { reap, reapDead } from "./containerd/teardown.ts";
import { DevNodeError } from "./errors.ts";
import { runInGuest } from "./guest/run-in-guest.ts";
import { startRegistry } from "./images/registry.ts";
import { buildImages } from "./images/standard-images.ts";
import { prepareNode } from "./prepare-node.ts";
import { type ContainerdVersion, ensureTools } from "./tools/ensure-tools.ts";
import { useRuntime } from "./use-runtime.ts";

const usage = `usage:
  main.ts up [--version 1.6|2.1] [--dir DIR]   start a private containerd with the standard images, until Ctrl-C
  main.ts up --endpoint unix:///…              bring the standard images into a containerd that runs, until Ctrl-C
  main.ts tools                                fetch what is missing, and print where everything lies
  main.ts reap [--dir DIR]                     take down what dead processes left (in DIR, or anywhere on this machine)
  main.ts registry                             serve the standard images to pulls from this machine, until Ctrl-C
  main.ts guest [--dir DIR] -- COMMAND…        run a command in a guest with systemd and cgroup v2; DIR is its /share
`;

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      version: { type: "string", default: "2.1" },
      dir: { type: "string" },
      endpoint: { type: "string" },
    },
  });
  const [subcommand, program, ...args] = positionals;
  switch (subcommand) {
    case "up":
      if (values.endpoint !== undefined) {
        return useUntilSignal(await useRuntime({ endpoint: values.endpoint, log: console.error }));
      }
      return up({ version: parseVersion(values.version), dir: values.dir ?? `/tmp/nodelet-node-${process.pid}` });
    case "tools":
      console.log(JSON.stringify(await ensureTools({ log: console.error }), undefined, 2));
      return;
    case "reap":
      await (values.dir === undefined ? reapDead(console.error) : reap(resolve(values.dir)));
      return;
    case "registry":
      return serveImages();
    case "guest":
      if (program !== undefined) {
        return runGuest({ command: [program, ...args], shareDir: values.dir });
      }
      return failUsage();
    default:
      return failUsage();
  }
}

function failUsage(): void {
  process.stderr.write(usage);
  process.exitCode = 2;
}

function parseVersion(text: string): ContainerdVersion {
  if (text === "1.6" || text === "2.1") {
    return text;
  }
  throw new DevNodeError("tool", `--version ${text}: expected 1.6 or 2.1`);
}

async function runGuest(options: { command: [string, ...string[]]; shareDir: string | undefined }): Promise<void> {
  const { command, shareDir } = options;
  const share = shareDir === undefined ? {} : { shareDir };
  const result = await runInGuest({ command, log: console.error, ...share });
  process.stdout.write(result.output);
  process.exitCode = result.exitCode;
}

async function up(options: { version: ContainerdVersion; dir: string }): Promise<void> {
  const start = performance.now();
  const node = await prepareNode({ ...options, log: console.error });
  console.error(`ready in ${Math.round(performance.now() - start)} ms; cgroup root ${node.containerd.cgroupRoot}`);
  await useUntilSignal(node);
}

async function serveImages(): Promise<void> {
  const { busybox } = await ensureTools({ versions: [], log: console.error });
  const registry = await startRegistry({ archive: await buildImages({ busybox }) });
  await useUntilSignal({ endpoint: `${registry.host}/busybox:1`, close: () => registry.close() });
}

/** Prints the endpoint, waits for Ctrl-C, and closes. */
async function useUntilSignal(runtime: { endpoint: string; close(): Promise<void> }): Promise<void> {
  console.error("Ctrl-C ends it");
  console.log(runtime.endpoint);
  await new Promise<void>((done) => {
    // Something must keep the process alive while it waits for a signal.
    const alive = setInterval(() => {}, 1 << 30);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        clearInterval(alive);
        done();
      });
    }
  });
  await runtime.close();
}

run().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof DevNodeError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
});
