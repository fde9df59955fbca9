import { NodeletError } from "@nodelet/core";
import yargs, { type Argv } from "yargs";
import { flagSettings, normalizeArguments, unknownFlags } from "./settings/flags.ts";
import { nearest } from "./settings/nearest.ts";
import type { Setting } from "./settings/setting.ts";
import { settingsTable } from "./settings/settings-table.ts";

/** A call of the program. */
export interface ProgramCall {
  /** What it is called: `nodelet` or `kubelet`. */
  readonly name: string;
  readonly args: readonly string[];
}

const COMMANDS = ["pods", "explain", "stop", "version"];

type Parsed = Readonly<Record<string, unknown>>;

/** Runs the command that the arguments ask for; answers the exit code. Faults are told on standard error. */
export async function runProgram(call: ProgramCall): Promise<number> {
  let code = 0;
  const answer = async (work: Promise<number>): Promise<void> => {
    code = await work;
  };
  try {
    const args = normalizeArguments(call.args).filter((argument) => argument !== "--version=false");
    await commandLine({ call, args, answer }).parseAsync();
    return code;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${call.name}: ${message}\n`);
    // What is no known fault is one of the program: where it happened matters then.
    if (!NodeletError.is(error) && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
    return 1;
  }
}

interface CommandLine {
  readonly call: ProgramCall;
  readonly args: readonly string[];
  /** Takes the exit code of the command that was chosen. */
  readonly answer: (work: Promise<number>) => Promise<void>;
}

function commandLine(line: CommandLine): Argv {
  const { call, args } = line;
  const program = yargs([...args])
    .scriptName(call.name)
    .locale("en")
    .parserConfiguration({
      "boolean-negation": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
    })
    .exitProcess(false)
    .version(false)
    .help("help")
    .alias("help", "h")
    .strict()
    .wrap(Math.min(100, process.stdout.columns ?? 80))
    .fail((message, error) => {
      if (error !== undefined && error !== null && error.name !== "YError") throw error;
      throw new NodeletError("invalid", usageFault(message || error.message, { flags: knownFlags(program), args }));
    })
    .command(
      "$0",
      `Run the node agent. All flags of the kubelet that this version has are taken.`,
      (builder) => withAgentFlags(builder).epilogue(epilogue(call.name)),
      (parsed) => line.answer(import("./commands/run.ts").then(({ run }) => run({ ...call, parsed }))),
    );
  return withQuestions(program, line);
}

/** The commands that ask a running agent, and the version. Each loads what it needs when it is chosen. */
function withQuestions(program: Argv, { answer }: CommandLine): Argv {
  return program
    .command(
      "pods",
      "Show the pods of the running agent",
      (builder) =>
        withOutput(withSocket(builder)).option("watch", {
          alias: "w",
          type: "boolean",
          describe: "Go on showing them until Ctrl-C",
        }),
      (parsed) => answer(import("./commands/pods.ts").then(({ showPods }) => showPods(viewOptions(parsed)))),
    )
    .command(
      "explain <pod>",
      "Show what was decided about a pod, and why, newest last",
      (builder) =>
        withOutput(withSocket(builder)).positional("pod", {
          type: "string",
          demandOption: true,
          describe: "Its name, namespace/name or UID",
        }),
      (parsed) =>
        answer(
          import("./commands/explain.ts").then(({ explainPod }) =>
            explainPod({ ...viewOptions(parsed), pod: String(parsed.pod) }),
          ),
        ),
    )
    .command("stop", "Stop the running agent; its pods run on", withSocket, (parsed) =>
      answer(import("./commands/stop.ts").then(({ stopAgent }) => stopAgent({ rootDir: rootDirOf(parsed) }))),
    )
    .command(
      "version",
      "Show the version",
      (builder) => withOutput(builder),
      (parsed) =>
        answer(import("./commands/version.ts").then(({ showVersion }) => showVersion({ json: isJson(parsed) }))),
    );
}

/** Every flag of the settings table. Values stay texts: the table reads them. */
function withAgentFlags(builder: Argv): Argv {
  for (const [, setting] of flagSettings) {
    const { kind, flag, short, about } = setting;
    builder.option(flag, {
      ...(short !== undefined && short !== flag && { alias: short }),
      ...(kind.isSwitch ? { type: "boolean" } : { type: "string", requiresArg: true }),
      describe: about,
      defaultDescription: defaultText(setting),
      group: `${setting.group}:`,
    });
  }
  builder.option("version", {
    type: "string",
    group: "Help:",
    describe: "Show the Kubernetes version and exit; =raw shows all of it",
  });
  return builder.group("help", "Help:");
}

function withSocket(builder: Argv): Argv {
  return builder.option("root-dir", {
    type: "string",
    requiresArg: true,
    describe: "The running agent's root directory",
    defaultDescription: settingsTable.rootDir.default,
  });
}

function withOutput(builder: Argv): Argv {
  return builder.option("output", {
    alias: "o",
    type: "string",
    requiresArg: true,
    choices: ["table", "json"],
    describe: "How to show it",
    defaultDescription: "table",
  });
}

function viewOptions(parsed: Parsed): {
  readonly rootDir: string;
  readonly json: boolean;
  readonly watch: boolean;
} {
  return { rootDir: rootDirOf(parsed), json: isJson(parsed), watch: parsed["watch"] === true };
}

function isJson(parsed: Parsed): boolean {
  return lastText(parsed["output"]) === "json";
}

function rootDirOf(parsed: Parsed): string {
  return lastText(parsed["root-dir"]) ?? settingsTable.rootDir.default;
}

function lastText(value: unknown): string | undefined {
  const last: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof last === "string" ? last : undefined;
}

function defaultText({ default: value, kind }: Setting<unknown>): string | undefined {
  if (kind.show !== undefined) return kind.show(value);
  const isEmpty = value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return isEmpty ? undefined : String(value);
}

function epilogue(name: string): string {
  return [
    "Flags may also be written with _ in place of -. Most have a field in the KubeletConfiguration, where they belong.",
    `The running agent answers: ${name} pods, ${name} explain POD, ${name} stop.`,
  ].join("\n");
}

function knownFlags(program: Argv): string[] {
  // Not among yargs' types, although documented: the options of the command that is being parsed.
  const { key } = (program as Argv & { getOptions(): { key: Record<string, unknown> } }).getOptions();
  return Object.keys(key);
}

/** yargs' words for faults, in ours. */
function usageFault(
  message: string,
  known: { readonly flags: readonly string[]; readonly args: readonly string[] },
): string {
  const unknown = /^Unknown arguments?: (?<names>.+)$/s.exec(message)?.groups?.["names"]?.split(", ");
  if (unknown !== undefined) {
    const [word] = unknown.filter((name) => known.args.includes(name));
    if (word === undefined) return unknownFlags(unknown, known.flags);
    const meant = nearest(word, COMMANDS);
    return `unknown command ${JSON.stringify(word)}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  }
  const missing = /^Not enough arguments following: (?<name>.+)$/s.exec(message)?.groups?.["name"];
  if (missing !== undefined) return `the flag ${missing.length === 1 ? "-" : "--"}${missing} needs a value`;
  if (message.startsWith("Not enough non-option arguments"))
    return "something is missing after the command; see --help";
  return message.replace(/\s*\n\s*/g, " ");
}
