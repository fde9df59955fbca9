import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { MemoryLogger } from "@nodelet/testkit";
import { expect, onTestFinished, test } from "vitest";
import { protectFromOomKiller, warnWithoutRoot } from "./process-care.ts";

/** Runs a script in a process of its own that has the care's functions; answers how it ended and what it wrote. */
function run(script: string, onOutput: (kill: (signal: NodeJS.Signals) => void, text: string) => void = () => {}) {
  const modules = `
    import { DescriptorOutput, StructuredLogger, SystemClock } from "@nodelet/host-adapter";
    const { exitOnFaults, stopOnSignals } = await import("${import.meta.resolve("./process-care.ts")}");
    const { StopSwitch } = await import("${import.meta.resolve("./stop-switch.ts")}");
    const output = new DescriptorOutput({ fd: 2, droppedLine: () => "dropped\\n" });
    const logger = new StructuredLogger({ output, clock: new SystemClock(), format: "json", verbosity: 0 });
    const stop = new StopSwitch();
  `;
  const child = spawn(
    process.execPath,
    ["--conditions=nodelet-source", "--input-type=module", "-e", `${modules}${script}`],
    { cwd: new URL("../..", import.meta.url), env: { ...process.env, NODE_OPTIONS: "" } },
  );
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return new Promise<{ code: number | null; text: string }>((resolve) => {
    let text = "";
    const take = (part: Buffer): void => {
      text += String(part);
      onOutput((signal) => child.kill(signal), text);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("close", (code) => resolve({ code, text }));
  });
}

test.each([
  ["a rejection", 'void Promise.reject(new Error("nobody waits for this"));'],
  ["an exception", 'setTimeout(() => { throw new Error("nobody waits for this"); });'],
])("%s that nothing handles is logged and ends the process with 1", async (_, fault) => {
  const { code, text } = await run(`exitOnFaults({ logger, output }); setInterval(() => {}, 1000); ${fault}`);
  expect(code).toBe(1);
  const record = JSON.parse(text) as Record<string, unknown>;
  expect(record).toMatchObject({ msg: "A fault that nothing handled ends the agent; its pods run on" });
  expect(record["err"]).toBe("nobody waits for this");
  expect(record["stack"]).toMatch(/^Error: nobody waits for this\n\s+at /);
});

test("the first signal asks for a stop, the second ends the process", async () => {
  const script = `
    stopOnSignals({ stop, output });
    stop.signal.addEventListener("abort", () => console.log("stop because " + stop.reason));
    setInterval(() => {}, 1000);
    console.log("up");
  `;
  let signals = 0;
  const { code, text } = await run(script, (kill, soFar) => {
    const wanted = soFar.includes("stop because") ? 2 : 1;
    for (; signals < wanted; signals += 1) kill(signals === 0 ? "SIGTERM" : "SIGINT");
  });
  expect(text).toBe("up\nstop because SIGTERM was received\n");
  expect(code).toBe(1);
});

test("a terminal that goes away stops it once, and SIGUSR1 opens no debugger", async () => {
  const script = `
    stopOnSignals({ stop, output });
    stop.signal.addEventListener("abort", () => {
      console.log("stop because " + stop.reason);
      process.on("SIGHUP", () => setTimeout(() => process.exit(7), 100));
    });
    setInterval(() => {}, 1000);
    console.log("up");
  `;
  let signals = 0;
  const { code, text } = await run(script, (kill, soFar) => {
    if (soFar.includes("up") && signals === 0) kill("SIGUSR1");
    const wanted = soFar.includes("stop because") ? 2 : 1;
    for (; signals < wanted; signals += 1) kill("SIGHUP");
  });
  expect(text).toBe("up\nstop because SIGHUP was received\n");
  expect(code).toBe(7);
});

test("the own oom_score_adj is set, or it is told why not", () => {
  const before = readFileSync("/proc/self/oom_score_adj", "utf8").trim();
  const logger = new MemoryLogger();
  // Its present value may always be written.
  protectFromOomKiller({ oomScoreAdj: Number(before), logger });
  expect(logger.records).toEqual([]);
  protectFromOomKiller({ oomScoreAdj: 5000, logger });
  expect(logger.records).toMatchObject([
    {
      message: "The agent's own oom_score_adj stays as it is",
      fields: { wanted: 5000, reason: expect.stringContaining("EINVAL") },
    },
  ]);
  expect(readFileSync("/proc/self/oom_score_adj", "utf8").trim()).toBe(before);
});

test("a user that is not root is warned", () => {
  const logger = new MemoryLogger();
  warnWithoutRoot(logger);
  const warned = logger.records.some(({ message }) => message.startsWith("nodelet needs root"));
  expect(warned).toBe(process.geteuid?.() !== 0);
});
