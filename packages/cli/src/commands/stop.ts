import { access } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NodeletError } from "@nodelet/core";
import { CONTROL_SOCKET, controlClient } from "./control.ts";

const TIMEOUT_MS = 20_000;

/** Asks the running agent to stop and waits until it has. Its pods run on. */
export async function stopAgent(options: { readonly rootDir: string }): Promise<number> {
  await controlClient(options).stop();
  const socket = join(options.rootDir, CONTROL_SOCKET);
  const endMs = performance.now() + TIMEOUT_MS;
  // The socket is the last thing that a stopping agent takes away.
  while (await exists(socket)) {
    if (performance.now() > endMs)
      throw new NodeletError("deadline", `the agent was asked to stop and has not within ${TIMEOUT_MS / 1000} s`);
    await sleep(50);
  }
  process.stdout.write("The agent has stopped; its pods run on.\n");
  return 0;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
