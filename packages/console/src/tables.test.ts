import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decision, NOW_MS, podNamed } from "./console.test-support.ts";
import { decisionList } from "./decision-list.ts";
import { LiveScreen } from "./live-screen.ts";
import { PodJournal } from "./pod-journal.ts";
import { podTable } from "./pod-table.ts";
import { layOutTable } from "./table.ts";
import { cutText, printable, textWidth } from "./text-width.ts";

const looks = [
  {
    pod: podNamed("web-node-1", { podIP: "10.0.0.2" }),
    lastDecision: decision({ container: "c", message: "back-off 40s restarting failed container=c" }),
  },
  { pod: podNamed("a", { phase: "Pending" }) },
];
const options = { nowMs: NOW_MS, colour: false };

describe("the table of pods", () => {
  test("has a line for each pod, by name", () => {
    expect(podTable(looks, options)).toEqual([
      "POD         PHASE    READY  RESTARTS  IP        AGE  LAST DECISION",
      "a           Pending  0/1    0                   5m",
      "web-node-1  Running  0/1    0         10.0.0.2  5m   c: back-off 40s restarting failed container=c",
    ]);
  });

  test.each([
    [80, "web-node-1  Running  0/1    0         10.0.0.2  5m   c: back-off 40s restarting…"],
    [60, "web-node-1  Running  0/1    0         10.0.0.2  5m"],
    [48, "web-node-1  Running  0/1    0         5m"],
    [40, "web-node-1  Running  0/1    0"],
    [30, "web-node-1  Running  0/1"],
    [24, "web-node…  Runni…  0/1"],
  ])("gives way on %d columns", (width, line) => {
    expect(podTable(looks, { ...options, width }).at(-1)).toBe(line);
  });

  test("is coloured when asked to, and the same without the colours", () => {
    const coloured = podTable(looks, { ...options, colour: true, width: 80 });
    expect(coloured.join("\n")).toContain("\u001b[32mRunning\u001b[39m");
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(
      podTable(looks, { ...options, width: 80 }),
    );
  });

  test("obeys nothing that a message holds", () => {
    const evil = { pod: podNamed("x"), lastDecision: decision({ message: "a\u001b[2Jb\r\nc\u202ed\u0007" }) };
    expect(podTable([evil], options).at(-1)).toContain("a[2Jb cd");
  });
});

test("no table is wider than the terminal when its columns can be cut", () => {
  const cell = fc.record({ text: fc.string({ unit: "binary", maxLength: 60 }) });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell)), fc.integer({ min: 24, max: 200 }), (rows, width) => {
      const columns = [
        { title: "ONE", shrink: { order: 1, to: 4 } },
        { title: "TWO", shrink: { order: 2, to: 4 } },
        { title: "THREE", dropOrder: 1 },
      ];
      const lines = layOutTable({ columns, rows, width, colour: false });
      return lines.every((line) => textWidth(line) <= width && !/[\p{Cc}]/u.test(line));
    }),
  );
});

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["世界和平", 5, "世界…"],
  ["世界", 4, "世界"],
  ["e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
  ["abc", 0, ""],
])("%s cut to %d cells", (text, width, cut) => {
  expect(cutText(text, width)).toBe(cut);
});

test("texts become one printable line", () => {
  expect(printable("a\tb\n\nc\u0000\u001b[31m\u200bd")).toBe("a b c[31md");
});

describe("the journal of pods", () => {
  test("tells what changed, each once", () => {
    const journal = new PodJournal();
    expect(journal.update(looks, { nowMs: NOW_MS })).toEqual([
      "00:10:00 a Pending ready 0/1 restarts 0",
      "00:10:00 web-node-1 Running ready 0/1 restarts 0 ip 10.0.0.2 - c: back-off 40s restarting failed container=c",
    ]);
    // Nothing but time has passed.
    expect(journal.update(looks, { nowMs: NOW_MS + 60_000 })).toEqual([]);
    expect(journal.update([{ pod: podNamed("a") }], { nowMs: NOW_MS + 61_000 })).toEqual([
      "00:11:01 a Running ready 0/1 restarts 0",
      "00:11:01 web-node-1 gone",
    ]);
  });
});

describe("a live screen", () => {
  const sequence = new RegExp(`(${"\u001b"}\\[\\??\\d+[A-Za-z]|\r|\n)`);

  /** What a terminal that understands the few sequences shows. */
  function drawn(text: string): string[] {
    const lines = [""];
    let cursor = 0;
    for (const part of text.split(sequence)) {
      const [, count, letter] = /\[\??(\d+)([A-Za-z])$/.exec(part) ?? [];
      if (letter === "A") cursor -= Number(count);
      else if (letter === "J") lines.length = cursor;
      else if (part === "\n") cursor += 1;
      else if (letter === undefined && part !== "\r" && part !== "") lines[cursor] = part;
    }
    return lines;
  }

  test("draws over what it drew, and keeps the lines that were said above", () => {
    let text = "";
    const screen = new LiveScreen({ write: (part) => (text += part), rows: 10 });
    screen.show(["one", "two"]);
    screen.say("hello");
    screen.show(["three"]);
    screen.close();
    expect(drawn(text)).toEqual(["hello", "three"]);
    expect(text.endsWith("\u001b[?25h")).toBe(true);
  });

  test("shows no more lines than the terminal has", () => {
    let text = "";
    const screen = new LiveScreen({ write: (part) => (text += part), rows: 5 });
    screen.show(["1", "2", "3", "4", "5", "6"]);
    expect(text.split("\n").slice(1)).toEqual(["2", "3", "... and 3 more lines", ""]);
    // A line that wraps would be drawn over in the wrong place.
    text = "";
    new LiveScreen({ write: (part) => (text += part), rows: 3, columns: 8 }).show(["1", "2", "3", "4"]);
    expect(text.split("\n").slice(1)).toEqual(["... and…", ""]);
  });
});

describe("the list of decisions", () => {
  const records = [
    decision({ action: "admit", reason: "Admitted", message: "Pod default/web was admitted", atMs: NOW_MS - 90_000 }),
    decision({
      action: "backOff",
      outcome: "waiting",
      container: "main",
      count: 4,
      reason: "CrashLoopBackOff",
      message: "back-off 40s restarting failed container=main",
      inputs: { restartCount: 3, exitCode: 1, image: "x" },
      nextTryMs: NOW_MS + 30_000,
    }),
  ];

  test("has facts, message and inputs of each, oldest first", () => {
    expect(decisionList(records, options)).toEqual([
      "AGE  OUTCOME     ACTION   CONTAINER  REASON",
      "90s  ok          admit               Admitted",
      "    Pod default/web was admitted",
      "10s  waiting x4  backOff  main       CrashLoopBackOff",
      "    back-off 40s restarting failed container=main",
      "    restartCount=3 exitCode=1 image=x next try in 30s",
    ]);
  });

  test("wraps messages and cuts inputs on a narrow terminal", () => {
    expect(decisionList(records.slice(1), { ...options, width: 36 })).toEqual([
      "AGE  OUTCOME     REASON",
      "10s  waiting x4  CrashLoopBackOff",
      "    back-off 40s restarting failed",
      "    container=main",
      "    restartCount=3 exitCode=1 image…",
    ]);
  });

  test("leaves out a next try that is over", () => {
    expect(decisionList(records, { ...options, nowMs: NOW_MS + 60_000 }).at(-1)).toBe(
      "    restartCount=3 exitCode=1 image=x",
    );
  });
});
