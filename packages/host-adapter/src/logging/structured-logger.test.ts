import { describe, expect, it } from "vitest";
import { StructuredLogger, type StructuredLoggerOptions } from "./structured-logger.ts";

/** 20:45:01.123456 on 30 November, local time. */
const atMs = new Date(2025, 10, 30, 20, 45, 1, 123).getTime() + 0.456;

function logger(options: Partial<StructuredLoggerOptions> = {}) {
  const lines: string[] = [];
  const output = { write: (line: string) => lines.push(line), flush: async () => {}, flushSync: () => {} };
  const log = new StructuredLogger({
    output,
    clock: { nowMs: () => atMs },
    format: "text",
    verbosity: 2,
    pid: 1234,
    ...options,
  });
  return { log, lines };
}

const head = (letter: string, component = "nodelet") => `${letter}1130 20:45:01.123456    1234 ${component}:0] `;

describe("text", () => {
  it("has klog's header for each severity", () => {
    const { log, lines } = logger();
    log.info("a");
    log.warn("b");
    log.error("c", { err: new Error("broken"), attempt: 2 });
    log.debug(2, "d");
    log.debug(3, "hidden");
    expect(lines).toEqual([
      `${head("I")}"a"\n`,
      `${head("W")}"b"\n`,
      `${head("E")}"c" err="broken" attempt=2\n`,
      `${head("I")}"d"\n`,
    ]);
  });

  // Forms of klog's structured logging: strings quoted as Go does, numbers and booleans bare, all else as JSON.
  it.each([
    ["text", 'a "b" \\ \t', '="a \\"b\\" \\\\ \\t"'],
    ["bell and escape", "\u0007\u001b[2J", '="\\a\\x1b[2J"'],
    ["printable letters of any script", "é漢😀 ", '="é漢😀 "'],
    ["invisible ones", "\u200b\u2028\u00a0\u0085", '="\\u200b\\u2028\\u00a0\\u0085"'],
    ["half a pair", "\ud800x", '="\\ufffdx"'],
    ["beyond the basic plane", "\u{e0001}", '="\\U000e0001"'],
    ["a number", 1.5, "=1.5"],
    ["a large number", 9223372036854775807n, "=9223372036854775807"],
    ["no number", Number.NaN, '="NaN"'],
    ["a boolean", true, "=true"],
    ["nothing", null, "=null"],
    ["a list", ["a", 1], '=["a",1]'],
    ["an object", { a: { b: "x" } }, '={"a":{"b":"x"}}'],
    ["several lines", "one\ntwo", "=<\n\tone\n\ttwo\n >"],
    ["several lines with an end", "one\ntwo\n", "=<\n\tone\n\ttwo\n >"],
    ["lines that would move the cursor", "one\n\u001b[Htwo", "=<\n\tone\n\t\ufffd[Htwo\n >"],
  ])("writes %s", (_, value, expected) => {
    const { log, lines } = logger();
    log.info("m", { key: value });
    expect(lines).toEqual([`${head("I")}"m" key${expected}\n`]);
  });

  it("stays one line whatever the message and the keys are", () => {
    const { log, lines } = logger();
    log.info("a\nE1130 20:45:01.000000 1 x:1] forged", { "k=1 b\n": 1 });
    expect(lines).toEqual([`${head("I")}"a\\nE1130 20:45:01.000000 1 x:1] forged" k_1_b_=1\n`]);
  });

  it("bounds texts", () => {
    const { log, lines } = logger();
    log.info("m", { key: "x".repeat(1_000_000) });
    expect(lines[0]?.length).toBeLessThan(20_000);
    expect(lines[0]).toContain("... (983616 more characters)");
  });
});

describe("bound fields", () => {
  it("come first, are replaced by later ones, and name the component", () => {
    const { log, lines } = logger();
    const bound = log.with({ component: "pod worker", pod: "default/web" }).with({ attempt: 1, none: undefined });
    bound.info("m", { attempt: 2 });
    log.info("m");
    expect(lines).toEqual([`${head("I", "pod_worker")}"m" pod="default/web" attempt=2\n`, `${head("I")}"m"\n`]);
  });
});

describe("errors", () => {
  it.each([
    ["causes that say more", new Error("outer", { cause: new Error("inner") }), "outer: inner"],
    ["causes that say the same", new Error("outer: inner", { cause: new Error("inner") }), "outer: inner"],
    ["text", "plain", "plain"],
    ["objects", { code: 3 }, '{\\"code\\":3}'],
    ["errors without a message", new TypeError(), "TypeError"],
  ])("of %s", (_, err, expected) => {
    const { log, lines } = logger();
    log.error("m", { err });
    expect(lines).toEqual([`${head("E")}"m" err="${expected}"\n`]);
  });

  it("of a value that cannot be read lose the record, not the caller", () => {
    const { log, lines } = logger();
    const hostile = Object.defineProperty({}, "x", {
      enumerable: true,
      get: () => {
        throw new Error("trap");
      },
    });
    log.error("m", { hostile });
    expect(lines).toEqual(['"a log record could not be formatted: m"\n']);
  });

  it("of a cycle end", () => {
    const { log, lines } = logger();
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    log.error("m", { cycle });
    expect(lines[0]).toContain('"..."');
  });
});

describe("verbosity", () => {
  it("may change while running", () => {
    let level = 2;
    const { log, lines } = logger({ verbosity: () => level });
    log.debug(4, "hidden");
    level = 4;
    log.debug(4, "shown");
    expect(log.enabled(4)).toBe(true);
    expect(log.enabled(5)).toBe(false);
    expect(lines).toEqual([`${head("I")}"shown"\n`]);
  });
});

describe("json", () => {
  // Key order and names of the kubelet's JSON format: ts, caller, msg, v (not on errors), fields, err.
  it("is the kubelet's", () => {
    const { log, lines } = logger({ format: "json", clock: { nowMs: () => 1_767_323_045_678.5 } });
    log.info("a", { pod: "default/web", big: 9223372036854775807n });
    log.debug(2, "b");
    log.error("c", { err: new Error("broken"), n: 1 });
    expect(lines).toEqual([
      '{"ts":1767323045678.5,"caller":"nodelet:0","msg":"a","v":0,"pod":"default/web","big":9223372036854775807}\n',
      '{"ts":1767323045678.5,"caller":"nodelet:0","msg":"b","v":2}\n',
      '{"ts":1767323045678.5,"caller":"nodelet:0","msg":"c","n":1,"err":"broken"}\n',
    ]);
  });

  it("keeps its own keys, and odd ones of the fields", () => {
    const { log, lines } = logger({ format: "json" });
    log.info("m", { msg: "other", ["__proto__"]: "data", "a\nb": 1 });
    expect(lines).toHaveLength(1);
    const parsed = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    expect(parsed).toMatchObject({ msg: "m", msg_: "other", "a\nb": 1 });
    expect(Object.hasOwn(parsed, "__proto__")).toBe(true);
  });
});
