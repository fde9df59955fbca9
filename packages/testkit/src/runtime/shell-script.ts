import type { ProcessOutput, ProcessPlan } from "./program.ts";

/** How a `sleep` argument reads: seconds, with a suffix or not, or `infinity`. undefined when it is no duration. */
export function sleepMs(argument: string | undefined): number | undefined {
  if (argument === "infinity" || argument === "inf") return Number.POSITIVE_INFINITY;
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(argument ?? "");
  if (match === null) return undefined;
  const unitMs = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match[2] ?? ""] ?? 1_000;
  return Number(match[1]) * unitMs;
}

/**
 * What the few shell scripts do that test pods are made of: statements of `exit N`, `sleep N`, `true`, `false`, `echo TEXT`,
 * `echo TEXT > FILE`, `trap '' TERM` and `trap 'exit N' TERM`, joined by `;`, `&&` or line ends. Anything else, loops above all, runs until
 * it is stopped. A trap answers at once, where a real shell first waits for the command in the foreground.
 */
export function shellPlan(options: { readonly script: string; readonly isPid1: boolean }): ProcessPlan {
  const state: ScriptState = { elapsedMs: 0, exitCode: 0, onStop: options.isPid1 ? "ignore" : undefined, output: [] };
  let ended = true;
  for (const { text, onlyAfterSuccess } of splitStatements(options.script)) {
    if (onlyAfterSuccess && state.exitCode !== 0) continue;
    const outcome = runStatement(text, state);
    if (outcome === "forever") ended = false;
    if (outcome !== "next") break;
  }
  return {
    ...(ended ? { exit: { afterMs: state.elapsedMs, exitCode: state.exitCode } } : {}),
    ...(state.onStop === undefined ? {} : { onStop: state.onStop }),
    ...(state.output.length === 0 ? {} : { output: state.output }),
    ...(state.terminationMessage === undefined ? {} : { terminationMessage: state.terminationMessage }),
  };
}

interface ScriptState {
  elapsedMs: number;
  exitCode: number;
  onStop: ProcessPlan["onStop"];
  readonly output: ProcessOutput[];
  terminationMessage?: string;
}

interface Statement {
  readonly text: string;
  /** It comes after `&&`. */
  readonly onlyAfterSuccess: boolean;
}

/** Splits at `;`, `&&` and line ends outside quotes. */
function splitStatements(script: string): Statement[] {
  const tokens = script.match(/'[^']*'|"[^"]*"|&&|[;\n]|[^;&\n'"]+|[\s\S]/g) ?? [];
  const statements: Statement[] = [];
  let text = "";
  let onlyAfterSuccess = false;
  for (const token of [...tokens, ";"]) {
    if (token !== ";" && token !== "\n" && token !== "&&") {
      text += token;
      continue;
    }
    if (text.trim() !== "") statements.push({ text: text.trim(), onlyAfterSuccess });
    text = "";
    onlyAfterSuccess = token === "&&";
  }
  return statements;
}

function runStatement(statement: string, state: ScriptState): "next" | "ended" | "forever" {
  const words = (statement.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/s, "$2"));
  if (words.some((word) => word === "&" || word === "|")) return "forever";
  if (words[0] === "exec") words.shift();
  const [command, ...rest] = words;
  switch (command) {
    case "true":
    case ":":
    case "false":
      state.exitCode = command === "false" ? 1 : 0;
      return "next";
    case "exit":
      state.exitCode = Number.parseInt(rest[0] ?? String(state.exitCode), 10) & 0xff;
      return "ended";
    case "sleep": {
      const durationMs = sleepMs(rest[0]);
      if (durationMs === undefined || !Number.isFinite(durationMs)) return "forever";
      state.elapsedMs += durationMs;
      state.exitCode = 0;
      return "next";
    }
    case "echo":
      echo(rest, state);
      return "next";
    case "trap":
      return trap(rest, state);
    default:
      return "forever";
  }
}

function echo(words: readonly string[], state: ScriptState): void {
  const redirect = words.findIndex((word) => word.startsWith(">"));
  const text = (redirect < 0 ? words : words.slice(0, redirect)).join(" ");
  state.exitCode = 0;
  if (redirect < 0) {
    state.output.push({ afterMs: state.elapsedMs, text });
  } else if (words[redirect] === ">&2" || words[redirect] === "1>&2") {
    state.output.push({ afterMs: state.elapsedMs, stream: "stderr", text });
  } else if (words.slice(redirect).join("").endsWith("/dev/termination-log")) {
    state.terminationMessage = `${text}\n`;
  }
}

function trap(words: readonly string[], state: ScriptState): "next" | "forever" {
  const exit = /^exit (\d+)$/.exec(words[0] ?? "");
  if (words[0] === "") state.onStop = "ignore";
  else if (exit !== null) state.onStop = { exitCode: Number(exit[1]) & 0xff };
  else return "forever";
  return "next";
}
