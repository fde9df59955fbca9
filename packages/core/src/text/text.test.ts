import { expect, test } from "vitest";
import { fnv1a64 } from "./fnv.ts";
import { goDuration, parseGoDuration } from "./go-duration.ts";
import { goQuote } from "./go-quote.ts";
import { goStruct } from "./go-struct.ts";

test.each([
  ["plain", '"plain"'],
  ['say "hi"\\', '"say \\"hi\\"\\\\"'],
  ["a\tb\nc\rd", '"a\\tb\\nc\\rd"'],
  ["\x00\x1b\x7f", '"\\x00\\x1b\\x7f"'],
  ["grüße 世界", '"grüße 世界"'],
  ["\u200b\u00a0", '"\\u200b\\u00a0"'],
  ["\u{e0001}", '"\\U000e0001"'],
])("Go quotes %j", (text, quoted) => {
  expect(goQuote(text)).toBe(quoted);
});

test.each([
  [0, "0s"],
  [0.4, "0s"],
  [796, "796ms"],
  [1594, "1.594s"],
  [10_000, "10s"],
  [80_000, "1m20s"],
  [300_000, "5m0s"],
  [3_600_000, "1h0m0s"],
  [5_430_500, "1h30m30.5s"],
  [-1500, "-1.5s"],
])("Go prints %d ms as a duration", (durationMs, text) => {
  expect(goDuration(durationMs)).toBe(text);
});

test.each([
  ["", 0xcbf29ce484222325n],
  ["a", 0xaf63dc4c8601ec8cn],
  ["foobar", 0x85944171f73967e8n],
])("FNV-1a of %j is as its authors' vectors say", (text, hash) => {
  expect(fnv1a64(text)).toBe(hash);
});

test("a struct has its fields in Go's order, without empty optional ones", () => {
  const source = { protocol: "TCP", containerPort: 0, hostIP: "", hostPort: 0, name: "x", extra: 1 };
  const written = goStruct(source, ["name?", "hostPort?", "containerPort", "protocol?", "hostIP?"]);
  expect(JSON.stringify(written)).toBe('{"name":"x","containerPort":0,"protocol":"TCP"}');
});

test.each([
  ["0", 0],
  ["5s", 5000],
  ["1m0s", 60_000],
  ["2h45m30.5s", 9_930_500],
  ["-1.5h", -5_400_000],
  ["+300ms", 300],
  [".5s", 500],
  ["1.s", 1000],
  ["100us", 0.1],
  ["100µs", 0.1],
  ["1500000ns", 1.5],
  ["2562047h", 2_562_047 * 3_600_000],
])("Go reads the duration %s", (text, durationMs) => {
  expect(parseGoDuration(text)).toBeCloseTo(durationMs, 9);
});

test.each(["", "5", "s", "5 s", "5d", "1h-5m", "--5s", ".s", "1e3s", "5S", "5s ", "9999999999h"])(
  "Go reads no duration in %j",
  (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  },
);
