import { setTimeout as delay } from "node:timers/promises";
import { NodeletError, throwIfAborted } from "@nodelet/core";
import { errnoOf } from "@nodelet/lib-safe-fs";
import type { CgroupLayout } from "../layout/hierarchies.ts";
import { cgroupTree, processesOf, removeCgroup, writeCgroupFile } from "./cgroup-files.ts";

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Kills what is in the cgroup `path` (`/a/b`) and removes it with all below it from every tree. Killed processes take a moment to go: tries again
 * for `timeoutMs`, then throws `conflict` with what is left. Throws `conflict` at once when this process itself is in it.
 */
export async function destroyEverywhere(
  layout: CgroupLayout,
  path: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  throwIfAborted(options.signal, `removing the cgroup ${path}`);
  // Nearly always it is empty by now, and goes at once.
  const gone = await Promise.all(layout.hierarchies.map((hierarchy) => removeCgroup(`${hierarchy.path}${path}`)));
  if (!gone.includes(false)) return;
  const deadline = performance.now() + options.timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    throwIfAborted(options.signal, `removing the cgroup ${path}`);
    const trees = await Promise.all(layout.hierarchies.map((hierarchy) => cgroupTree(`${hierarchy.path}${path}`)));
    const left = await killProcesses(trees.flat(), path);
    if (left.length > 0 && layout.version === 1) await thaw(layout, path);
    const remaining = await removeDeepestFirst(trees.flat());
    if (remaining.length === 0) return;
    if (performance.now() + pauseMs > deadline) throw stuckError(path, remaining, left);
    await delay(pauseMs, undefined, { ...(options.signal && { signal: options.signal }) }).catch(() => undefined);
  }
}

/** Answers the processes that were there. */
async function killProcesses(directories: readonly string[], path: string): Promise<readonly number[]> {
  const pids = new Set((await Promise.all(directories.map(processesOf))).flat());
  if (pids.has(process.pid)) {
    throw new NodeletError(
      "conflict",
      `the cgroup ${path} holds this process itself (${process.pid}) and is not removed`,
    );
  }
  for (const pid of pids) {
    // 0 would mean our own process group, and 1 is init: neither is anybody's container.
    if (pid <= 1) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (errnoOf(error) !== "ESRCH") throw error;
    }
  }
  return [...pids];
}

/** A frozen process of version 1 is not killed before it thaws. */
async function thaw(layout: CgroupLayout, path: string): Promise<void> {
  const freezer = layout.hierarchies.find(({ controllers }) => controllers.includes("freezer"));
  if (freezer === undefined) return;
  for (const directory of await cgroupTree(`${freezer.path}${path}`)) {
    await writeCgroupFile(`${directory}/freezer.state`, "THAWED").catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
  }
}

async function removeDeepestFirst(directories: readonly string[]): Promise<readonly string[]> {
  const remaining: string[] = [];
  for (const directory of directories) {
    if (!(await removeCgroup(directory))) remaining.push(directory);
  }
  return remaining;
}

function stuckError(path: string, remaining: readonly string[], pids: readonly number[]): NodeletError {
  const who = pids.length === 0 ? "no process is seen in it" : `processes ${pids.slice(0, 10).join(", ")} do not end`;
  return new NodeletError("conflict", `the cgroup ${path} cannot be removed: ${remaining[0]} is in use, ${who}`);
}
