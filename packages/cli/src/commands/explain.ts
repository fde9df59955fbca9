import { decisionList, takesColour } from "@nodelet/console";
import { NodeletError, stringifyJson } from "@nodelet/core";
import { controlClient } from "./control.ts";

/** Prints the decisions about one pod, newest last. */
export async function explainPod(options: {
  readonly rootDir: string;
  readonly json: boolean;
  readonly pod: string;
}): Promise<number> {
  const client = controlClient(options);
  const records = await client.decisions({ pod: options.pod });
  if (records.length === 0) {
    const known = (await client.pods()).map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`);
    const hint = known.length === 0 ? "the agent has no pods" : `the agent has ${known.slice(0, 20).join(", ")}`;
    throw new NodeletError("notFound", `nothing was decided about a pod ${JSON.stringify(options.pod)}; ${hint}`);
  }
  const { stdout } = process;
  if (options.json) {
    stdout.write(`${stringifyJson({ items: records })}\n`);
    return 0;
  }
  const lines = decisionList(records, {
    nowMs: Date.now(),
    colour: takesColour(stdout),
    ...(stdout.isTTY && { width: stdout.columns }),
  });
  stdout.write(`${lines.join("\n")}\n`);
  return 0;
}
