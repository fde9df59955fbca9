import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { type DecisionRecord, decodeStaticPods, type Pod } from "@nodelet/core";
import { describe, expect, test } from "vitest";
import { type DemoNode, StartProblem } from "./demo-node.ts";
import { readOptions, usage } from "./options.ts";
import { PodScreen } from "./pod-screen.ts";
import { watchGone, watchUntil } from "./watch-pods.ts";

test.each([
  [[], { simulate: false, exitWhenReady: false, runtimeEndpoint: undefined, containerd: "2.1" }],
  [["--simulate", "--exit-when-ready"], { simulate: true, exitWhenReady: true }],
  [["--runtime-endpoint", "unix:///run/c.sock"], { runtimeEndpoint: "unix:///run/c.sock" }],
  [["--containerd=1.6", "--manifests", "x"], { containerd: "1.6", manifests: "x" }],
])("options %j", (args, options) => {
  expect(readOptions(args)).toMatchObject(options);
});

test.each([
  [["--foo"], /--foo[\s\S]*npm start -- \[options\]/],
  [["--containerd=3"], /--containerd 3: expected 2.1 or 1.6/],
  [["--simulate", "--runtime-endpoint=x"], /--simulate uses no runtime/],
])("options %j are refused with advice", (args, message) => {
  expect(() => readOptions(args)).toThrow(StartProblem);
  expect(() => readOptions(args)).toThrow(message);
});

test("every option is in the usage", () => {
  for (const option of ["simulate", "exit-when-ready", "runtime-endpoint", "containerd", "manifests"])
    expect(usage).toContain(`--${option}`);
});

describe("the example pods", () => {
  const folder = fileURLToPath(new URL("../../examples/pods/", import.meta.url));
  test.each(readdirSync(folder))("%s is a valid static pod on an image of the development node", (file) => {
    const { pods, warnings } = decodeStaticPods({
      bytes: readFileSync(folder + file),
      origin: { kind: "file", location: file },
      nodeName: "nodelet",
      refuseApiReferences: true,
    });
    expect(warnings).toEqual([]);
    expect(pods.map(({ metadata }) => metadata?.name)).toEqual([`${file.replace(/\.yaml$/, "")}-nodelet`]);
    for (const { image } of pods[0]?.spec?.containers ?? [])
      expect(["localhost/busybox:1", "localhost/app:1"]).toContain(image);
  });
});

/** A node whose pods are what each look finds next; the last one stays. */
function scriptedNode(looks: readonly (readonly Pod[])[]): DemoNode & { withdrawn: boolean } {
  let next = 0;
  const node = {
    title: "a node",
    hints: ["a hint"],
    withdrawn: false,
    failure: new Promise<never>(() => {}),
    window: {
      pods: async () => looks[Math.min(next++, looks.length - 1)] ?? [],
      decisions: async (): Promise<DecisionRecord[]> => [],
      status: async () => ({ ready: next > 1 }),
    },
    withdrawPods: async () => {
      node.withdrawn = true;
    },
    close: async () => {},
  };
  return node;
}

const pod = (name: string, ready: boolean): Pod => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
});

function screenOf(terminal: { isTTY?: boolean; columns?: number; rows?: number } = {}) {
  let text = "";
  const stream = { ...terminal, write: (part: string) => (text += part) };
  return { screen: new PodScreen({ stream, nowMs: () => 0 }), text: () => text };
}

describe("watching", () => {
  const never = new AbortController().signal;

  test("ends when each pod has been Ready for two looks in a row, if not at the same time", async () => {
    const { screen, text } = screenOf();
    const looks = [
      [],
      [pod("a", false), pod("b", true)],
      [pod("a", false), pod("b", true)],
      [pod("a", true), pod("b", false)],
      [pod("a", false), pod("b", false)],
      [pod("a", true), pod("b", false)],
      [pod("a", true), pod("b", false)],
    ];
    const node = scriptedNode(looks);
    await watchUntil({ node, screen, stop: never, exitWhenReady: true });
    expect(text()).toMatch(/^Waiting for the first pods \.\.\.\nNot Ready yet: a, b\n/);
    expect(text()).toMatch(/Not Ready yet: a\n[\s\S]*Every pod has been Ready\.\n/);
    // One look of a alone is Ready, and does not count.
    expect(text().match(/00:00:00 a Running/g)).toHaveLength(1);
  });

  test("goes on until it is stopped otherwise", async () => {
    const stop = new AbortController();
    const { screen, text } = screenOf();
    const watching = watchUntil({
      node: scriptedNode([[pod("a", true)]]),
      screen,
      stop: stop.signal,
      exitWhenReady: false,
    });
    await expect.poll(text).toContain("Every pod has been Ready.");
    stop.abort();
    await watching;
  });

  test("ends with the agent's own failure", async () => {
    const { screen } = screenOf();
    const node = { ...scriptedNode([[]]), failure: Promise.reject(new StartProblem("the agent ended")) };
    await expect(watchUntil({ node, screen, stop: never, exitWhenReady: true })).rejects.toThrow("the agent ended");
  });

  test("waits for the pods to go, and names those that stay when hurried", async () => {
    const { screen, text } = screenOf();
    const node = scriptedNode([[pod("a", true)], [pod("a", true)], []]);
    expect(await watchGone({ node, screen, hurry: never })).toEqual([]);
    expect(node.withdrawn).toBe(true);
    expect(text()).toMatch(/Stopping the pods \.\.\.[\s\S]*All pods are gone\./);
    const stuck = scriptedNode([[pod("stuck", true)]]);
    expect(await watchGone({ node: stuck, screen, hurry: AbortSignal.abort() })).toEqual(["stuck"]);
  });
});

test("on a terminal the table is drawn with title, state and hints, each cut to its width", () => {
  const { screen, text } = screenOf({ isTTY: true, columns: 30, rows: 20 });
  screen.say("a line that is longer than thirty cells");
  screen.show({ title: "t".repeat(40), looks: [{ pod: pod("a", true) }], state: "fine", hints: ["h".repeat(40)] });
  screen.close();
  const lines = stripVTControlCharacters(text()).replaceAll("\r", "").split("\n");
  expect(lines).toEqual([
    "a line that is longer than th…",
    `${"t".repeat(29)}…`,
    "",
    "POD  PHASE    READY  RESTARTS",
    "a    Running  0/1    0",
    "",
    "fine",
    `${"h".repeat(29)}…`,
    "",
  ]);
});
