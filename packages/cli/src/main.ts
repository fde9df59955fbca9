import { basename } from "node:path";
import { answerToVersion } from "./version.ts";

/** The program is called by the name it was started by. */
const name = basename(process.argv[1] ?? "nodelet").replace(/\.[cm]?[jt]s$/, "");

/** 128 and the signal's number: what a program gets that SIGPIPE ends, which Node.js ignores. */
const ENDED_BY_SIGPIPE = 141;

// A reader that went away (`| head`) has what it wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`${name}: standard output: ${error.message}\n`);
  process.exit(error.code === "EPIPE" ? ENDED_BY_SIGPIPE : 1);
});

/** Everything but --version is loaded when it is needed. */
async function main(args: readonly string[]): Promise<number> {
  const version = answerToVersion(args);
  if (version !== undefined) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const { runProgram } = await import("./program.ts");
  return runProgram({ name, args });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
