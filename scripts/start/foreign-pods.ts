import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createCriAdapter } from "@nodelet/cri-adapter";
import { SystemClock } from "@nodelet/host-adapter";
import { StartProblem } from "./demo-node.ts";
import type { Place } from "./place.ts";

const SHOWN = 5;

/**
 * Refuses a runtime that holds pods of another agent: two agents on one runtime remove each other's pods. Pods that an earlier `npm start` left
 * there because it was killed are its own, and fine.
 */
export async function refuseForeignPods(options: { readonly endpoint: string; readonly place: Place }): Promise<void> {
  const { endpoint, place } = options;
  const adapter = createCriAdapter({ runtimeEndpoint: endpoint, clock: new SystemClock(), requestTimeoutMs: 10_000 });
  try {
    const own = new Set(await podsOfEarlierStart(place));
    const foreign = (await adapter.runtime.listSandboxes()).filter(({ metadata }) => !own.has(metadata.uid));
    if (foreign.length === 0) return;
    const names = foreign.slice(0, SHOWN).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const more = foreign.length > SHOWN ? ` and ${foreign.length - SHOWN} more` : "";
    throw new StartProblem(
      `the runtime at ${endpoint} holds pods of another agent: ${names.join(", ")}${more}.\n` +
        "Two agents on one runtime remove each other's pods. Stop that agent and remove its pods, or leave\n" +
        "--runtime-endpoint out: then the examples run on a containerd of their own.",
    );
  } finally {
    adapter.close();
  }
}

/**
 * Refuses to lose track of pods: an earlier start was killed on somebody else's runtime, its pods run there still, and this start would use another one.
 */
export async function refuseToForget(options: {
  readonly endpoint: string | undefined;
  readonly place: Place;
}): Promise<void> {
  const { endpoint, place } = options;
  const noted = (await readFile(place.runtimeNote, "utf8").catch(() => "")).trim();
  if (noted === "" || noted === endpoint || (await podsOfEarlierStart(place)).length === 0) return;
  throw new StartProblem(
    `an earlier npm start on ${noted} was killed, and its pods run there still.\n` +
      `Take them down first:  npm start -- --exit-when-ready --runtime-endpoint ${noted}`,
  );
}

async function podsOfEarlierStart(place: Place): Promise<readonly string[]> {
  return readdir(join(place.rootDir, "pods")).catch(() => []);
}
