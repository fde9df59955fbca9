import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { reap, reapDead } from "./containerd/teardown.ts";
import { DevNodeError } from "./errors.ts";
import { prepareNode } from "./prepare-node.ts";
import { type ContainerdVersion, ensureTools } from "./tools/ensure-tools.ts";

const usage = `usage:
  main.ts up [--version 1.6|2.1] [--dir DIR]   start a private containerd with the standard images, until Ctrl-C
  main.ts tools                                fetch what is missing, and print where everything lies
  main.ts reap [--dir DIR]                     take down what dead processes left (in DIR, or anywhere on this machine)
`;

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { version: { type: "string", default: "2.1" }, dir: { type: "string" } },
  });
  switch (positionals[0]) {
    case "up":
      return up({ version: parseVersion(values.version), dir: values.dir ?? `/tmp/nodelet-node-${process.pid}` });
    case "tools":
      console.log(JSON.stringify(await ensureTools({ log: console.error }), undefined, 2));
      return;
    case "reap":
      await (values.dir === undefined ? reapDead(console.error) : reap(resolve(values.dir)));
      return;
    default:
      process.stderr.write(usage);
      process.exitCode = 2;
  }
}

function parseVersion(text: string): ContainerdVersion {
  if (text === "1.6" || text === "2.1") {
    return text;
  }
  throw new DevNodeError("tool", `--version ${text}: expected 1.6 or 2.1`);
}

async function up(options: { version: ContainerdVersion; dir: string }): Promise<void> {
  const start = performance.now();
  const node = await prepareNode({ ...options, log: (line) => console.error(line) });
  console.error(
    `ready in ${Math.round(performance.now() - start)} ms; cgroup root ${node.containerd?.cgroupRoot}; Ctrl-C ends it`,
  );
  console.log(node.endpoint);
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
  await node.close();
}

run().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof DevNodeError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
});
