import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { prepareNode } from "@nodelet/dev-node";
import { figuresOf, formatFigures } from "./startup/report.ts";
import { runStartup } from "./startup/run-startup.ts";

const program = fileURLToPath(new URL("../packages/cli/bin/nodelet.js", import.meta.url));
const usage = `npm run bench -- [options]: the agent against raw calls of the runtime, on one private containerd
  --pods 1,30,90     numbers of pods
  --rounds 3         times that each is measured, floor and agent in turn; medians count
  --idle-seconds 60  how long the agent is watched with pods that rest; 0 for not at all
  --output table     or json: all samples and figures
  --check            exit code 1 when a goal is missed`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      pods: { type: "string", default: "1,30,90" },
      rounds: { type: "string", default: "3" },
      "idle-seconds": { type: "string", default: "60" },
      output: { type: "string", default: "table" },
      check: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const podCounts = values.pods.split(",").map((text) => positive("--pods", text));
  const rounds = positive("--rounds", values.rounds);
  const idleSeconds = values["idle-seconds"] === "0" ? 0 : positive("--idle-seconds", values["idle-seconds"]);
  if (values.output !== "table" && values.output !== "json") {
    throw new Error(`--output ${values.output}: expected table or json`);
  }
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const log = (line: string): void => console.error(line);
  if (!existsSync(program.replace("bin/nodelet.js", "dist/nodelet.js"))) {
    log("The program is not built (npm run build): its sources are measured, which start slower and take more memory.");
  }
  const node = await prepareNode({ dir: `${tmpdir()}/nodelet-bench-${process.pid}`, log });
  try {
    const result = await runStartup({
      node,
      agentCommand: [process.execPath, program],
      podCounts,
      behaviours: ["ignores", "obeys"],
      rounds,
      idleSeconds,
      log,
    });
    const figures = figuresOf(result);
    console.log(
      values.output === "json" ? JSON.stringify({ figures, ...result }, undefined, 2) : formatFigures(figures),
    );
    return values.check && figures.some(({ met }) => met === false) ? 1 : 0;
  } finally {
    await node.close();
  }
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000) {
    throw new Error(`${option} ${text}: expected whole numbers from 1 to 1000`);
  }
  return value;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
