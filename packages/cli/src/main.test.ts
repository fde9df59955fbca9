import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

test.each([["--version"], ["--help"]])("%s into a pipe that nobody reads ends without a word", async (flag) => {
  const child = spawn(process.execPath, ["--conditions=nodelet-source", program, flag], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  // Gone before the program has begun.
  child.stdout.destroy();
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    complaint += part;
  });
  expect(await once(child, "close")).toEqual([141, null]);
  expect(complaint).toBe("");
});
