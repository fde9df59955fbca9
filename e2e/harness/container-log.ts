import { link, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "@nodelet/core";
import type { AgentUnderTest } from "./agent-under-test.ts";

/** A line that a container wrote, as the runtime's log has it (KEP-3085's text form: time, stream, tag, text). */
export interface ContainerLine {
  readonly atMs: number;
  readonly stream: string;
  readonly text: string;
}

/** Where the runtime writes what a container says: the kubelet's layout below the pod log directory. */
export function containerLogPath(
  agent: AgentUnderTest,
  instance: { readonly pod: Pod; readonly container: string; readonly attempt?: number },
): string {
  const { name, namespace, uid } = instance.pod.metadata ?? {};
  return join(agent.dirs.logs, `${namespace}_${name}_${uid}`, instance.container, `${instance.attempt ?? 0}.log`);
}

/** Reads a log. One that is not there has no lines. */
export async function readContainerLog(path: string): Promise<readonly ContainerLine[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [time = "", stream = "", , ...words] = line.split(" ");
      return { atMs: Date.parse(time), stream, text: words.join(" ") };
    });
}

/** Another name for a log, under which it can be read after the agent removed it with its pod. */
export async function keepLog(agent: AgentUnderTest, path: string): Promise<string> {
  const folder = join(agent.dirs.logs, "..", "kept");
  await mkdir(folder, { recursive: true });
  const kept = join(folder, `${Date.now()}-${Math.random().toString(36).slice(2)}.log`);
  await link(path, kept);
  return kept;
}
