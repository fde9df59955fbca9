import { LiveScreen, lookAtPods, PodJournal, type PodLook, podTable, takesColour } from "@nodelet/console";
import { stringifyJson } from "@nodelet/core";
import type { ControlClient } from "@nodelet/http-server";
import { controlClient } from "./control.ts";
import { untilInterrupted } from "./until-interrupted.ts";

const WATCH_PERIOD_MS = 1000;

/** Prints the pods of the running agent, once or (watching) until Ctrl-C. */
export async function showPods(options: {
  readonly rootDir: string;
  readonly json: boolean;
  readonly watch: boolean;
}): Promise<number> {
  const client = controlClient(options);
  if (options.watch) return watchPods(client, options);
  if (options.json) {
    const items = await client.pods();
    process.stdout.write(`${stringifyJson({ kind: "PodList", apiVersion: "v1", metadata: {}, items })}\n`);
    return 0;
  }
  const looks = await lookAtPods(client);
  process.stdout.write(looks.length === 0 ? "No pods.\n" : `${tableOf(looks).join("\n")}\n`);
  return 0;
}

/** On a terminal the table is drawn over; in a pipe each change is a line, and as JSON each change is the pod. */
async function watchPods(client: ControlClient, options: { readonly json: boolean }): Promise<number> {
  const { stdout } = process;
  const screen = new LiveScreen(stdout);
  const journal = new PodJournal();
  const told = new Map<string, string>();
  const show = async (): Promise<void> => {
    const looks = await lookAtPods(client);
    if (options.json) tellChangedPods(looks, told);
    else if (stdout.isTTY) screen.show(looks.length === 0 ? ["No pods."] : tableOf(looks));
    else for (const line of journal.update(looks, { nowMs: Date.now() })) stdout.write(`${line}\n`);
  };
  try {
    await untilInterrupted({ periodMs: WATCH_PERIOD_MS, work: show });
  } finally {
    screen.close();
  }
  return 0;
}

function tellChangedPods(looks: readonly PodLook[], told: Map<string, string>): void {
  for (const { pod } of looks) {
    const uid = pod.metadata?.uid ?? "";
    const line = stringifyJson(pod);
    if (told.get(uid) !== line) process.stdout.write(`${line}\n`);
    told.set(uid, line);
  }
}

function tableOf(looks: readonly PodLook[]): string[] {
  const { stdout } = process;
  return podTable(looks, {
    nowMs: Date.now(),
    colour: takesColour(stdout),
    ...(stdout.isTTY && { width: stdout.columns }),
  });
}
