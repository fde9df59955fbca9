import type { SimulatedNode } from "@nodelet/testkit";
import { describe, expect, it } from "vitest";
import {
  callNames,
  type ManifestNode,
  MINUTE,
  manifestNode,
  SECOND,
  statusOf,
  untilPhase,
  viewOf,
} from "./cases.test-support.ts";

/** A manifest of one container; lines are added to the spec, to the container, or to the metadata. */
function manifest(
  name: string,
  more: {
    readonly spec?: readonly string[];
    readonly container?: readonly string[];
    readonly metadata?: readonly string[];
  } = {},
): string {
  const indent = (lines: readonly string[] = [], by: string): string => lines.map((line) => `${by}${line}\n`).join("");
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
${indent(more.metadata, "  ")}spec:
  terminationGracePeriodSeconds: 2
${indent(more.spec, "  ")}  containers:
  - name: c
    image: localhost/busybox:1.35
    command: ["server"]
${indent(more.container, "    ")}`;
}

function names(node: SimulatedNode): readonly string[] {
  return node.agent
    .pods()
    .map(({ pod }) => pod.metadata?.name ?? "")
    .sort();
}

function warnings(node: SimulatedNode): readonly string[] {
  return node.logger.records
    .filter(({ level }) => level === "warn" || level === "error")
    .map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`);
}

/** Ids of what runs, and of its sandboxes. */
function ids(node: SimulatedNode): readonly string[] {
  return [...node.runtime.running().map(({ id }) => id), ...node.runtime.sandboxes().map(({ id }) => id)];
}

async function started(files: Readonly<Record<string, string>>): Promise<ManifestNode> {
  const made = manifestNode();
  for (const [name, content] of Object.entries(files)) made.write(name, content);
  made.node.start();
  await made.node.clock.advance(30 * SECOND);
  return made;
}

describe("K01 backup and hidden files in the manifest directory", () => {
  it("reads every name but hidden ones; of two files for one pod the first in order wins, over restarts too", async () => {
    const { node, write } = await started({
      "web.yaml": manifest("web"),
      "web.yaml.bak": manifest("web").replace("1.35", "1.36"),
      ".web.yaml.swp": "\0\x01b0VIM",
      "other.txt": manifest("other"),
    });
    node.images.add("localhost/busybox:1.36");
    await node.clock.advance(MINUTE);
    const seen = (): unknown => [names(node), node.runtime.running().map(({ image }) => image.image)];
    expect(seen()).toEqual([
      ["other-node-1", "web-node-1"],
      ["localhost/busybox:1.35", "localhost/busybox:1.35"],
    ]);
    expect(warnings(node).filter((line) => line.includes("web.yaml.bak"))).toHaveLength(1);
    expect(warnings(node).filter((line) => line.includes(".swp"))).toEqual([]);
    const before = ids(node);
    node.kill();
    write(".web.yaml.swp", "\0\x02");
    node.start();
    await node.clock.advance(MINUTE);
    expect(ids(node)).toEqual(before);
  });
});

describe("K02 booleans of YAML 1.1", () => {
  it("takes yes for true, refuses no as a text, and takes quoted no as a text", async () => {
    const { node } = await started({
      "a.yaml": manifest("a", { spec: ["hostNetwork: yes"] }),
      "b.yaml": manifest("b", { container: ["env:", "- name: X", "  value: no"] }),
      "c.yaml": manifest("c", { container: ["env:", "- name: X", '  value: "no"'] }),
    });
    expect(names(node)).toEqual(["a-node-1", "c-node-1"]);
    const sandboxes = node.runtime.calls.filter(({ call }) => call === "runSandbox");
    expect(sandboxes.map(({ request }) => request)).toContainEqual(
      expect.objectContaining({
        config: expect.objectContaining({
          metadata: expect.objectContaining({ name: "a-node-1" }) as unknown,
          linux: expect.objectContaining({
            securityContext: expect.objectContaining({
              namespaceOptions: expect.objectContaining({ network: "NODE" }) as unknown,
            }) as unknown,
          }) as unknown,
        }) as unknown,
      }),
    );
    expect(warnings(node).some((line) => line.includes("b.yaml") && line.includes("env[0].value"))).toBe(true);
    const creates = node.runtime.calls.filter(({ call }) => call === "createContainer");
    const envs = creates.map(({ request }) => JSON.stringify((request as { config: { envs?: unknown } }).config.envs));
    expect(envs.filter((text) => text.includes('{"key":"X","value":"no"}'))).toHaveLength(1);
  });
});

describe("K04 keys that come twice", () => {
  it("takes the last one, as lenient decoding does", async () => {
    const second = ["- name: b", "  image: localhost/busybox:1.35", '  command: ["server"]'];
    const text = `${manifest("twice", { spec: ["hostNetwork: true", "hostNetwork: true"] })}  containers:
${second.map((line) => `  ${line}\n`).join("")}`;
    const { node } = await started({ "twice.yaml": text });
    await untilPhase(node, "twice-node-1", "Running");
    expect(node.runtime.running().map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });
});

describe("K05 an empty and a half-written manifest", () => {
  it("harms no sibling, makes no pod of a half, and takes the whole one within a scan period", async () => {
    const { node, write } = await started({ "a.yaml": manifest("a"), "b.yaml": manifest("b") });
    const before = ids(node);
    const whole = manifest("late");
    node.runtime.clearCalls();
    write("late.yaml", "");
    await node.clock.advance(SECOND);
    write("late.yaml", whole.slice(0, whole.indexOf("  containers:")));
    await node.clock.advance(SECOND);
    expect(callNames(node)).toEqual([]);
    write("late.yaml", whole);
    await node.clock.advance(20 * SECOND);
    expect(statusOf(node, "late-node-1").phase).toBe("Running");
    expect(ids(node)).toEqual(expect.arrayContaining([...before]));
    expect(callNames(node)).toEqual(["runSandbox", "createContainer c", "startContainer"]);
    expect(warnings(node).filter((line) => line.includes("a.yaml") || line.includes("b.yaml"))).toEqual([]);
  });

  it("makes no pod of a half that rests for longer than a scan period either", async () => {
    const { node, write } = await started({ "a.yaml": manifest("a") });
    const whole = manifest("late");
    write("late.yaml", whole.slice(0, whole.indexOf("  containers:")));
    await node.clock.advance(MINUTE);
    expect(names(node)).toEqual(["a-node-1"]);
    expect(warnings(node).some((line) => line.includes("late.yaml"))).toBe(true);
    write("late.yaml", whole);
    await node.clock.advance(20 * SECOND);
    expect(names(node)).toEqual(["a-node-1", "late-node-1"]);
  });
});

describe("K07 the same content written again", () => {
  it("restarts nothing, and only the unrelated pod is added", async () => {
    const { node, write, remove } = await started({ "a.yaml": manifest("a") });
    const before = ids(node);
    node.runtime.clearCalls();
    write("a.yaml", manifest("a"));
    await node.clock.advance(30 * SECOND);
    // A byte-equal copy renamed over it: the old file goes and the new one comes in one instant.
    remove("a.yaml");
    write("a.yaml", manifest("a"));
    await node.clock.advance(30 * SECOND);
    write("b.yaml", manifest("b"));
    await node.clock.advance(30 * SECOND);
    expect(callNames(node)).toEqual(["runSandbox", "createContainer c", "startContainer"]);
    expect(ids(node)).toEqual(expect.arrayContaining([...before]));
    expect(statusOf(node, "a-node-1").containerStatuses?.[0]?.restartCount).toBe(0);
    // A reformatted file that decodes to the same pod.
    write("a.yaml", `# a comment\n${manifest("a").replace('["server"]', "\n    - server")}`);
    node.runtime.clearCalls();
    await node.clock.advance(30 * SECOND);
    expect(callNames(node)).toEqual([]);
  });
});

describe("K08 a static pod that comes back while it is still stopping", () => {
  /** Needs 5 s to end after SIGTERM. */
  async function slow(): Promise<ManifestNode & { readonly text: string }> {
    const text = manifest("slow").replace("PeriodSeconds: 2", "PeriodSeconds: 30");
    const made = manifestNode({
      runtime: { programs: [() => ({ onStop: { afterMs: 5 * SECOND, exitCode: 0 } })] },
    });
    made.write("slow.yaml", text);
    made.node.start();
    await untilPhase(made.node, "slow-node-1", "Running");
    made.node.runtime.clearCalls();
    return { ...made, text };
  }

  it.each([
    ["after 3 s", 3 * SECOND, false],
    ["after 30 s", 30 * SECOND, false],
    ["after 3 s, with the agent restarted in between", 3 * SECOND, true],
  ])("%s: the old container ends first, then the pod runs again under its UID", async (_, pauseMs, restart) => {
    const { node, write, remove, text } = await slow();
    const uid = viewOf(node, "slow-node-1")?.pod.metadata?.uid;
    remove("slow.yaml");
    await node.clock.advance(pauseMs);
    if (restart) {
      node.kill();
      node.start();
    }
    write("slow.yaml", text);
    await node.clock.advance(MINUTE);
    expect(statusOf(node, "slow-node-1").phase).toBe("Running");
    expect(viewOf(node, "slow-node-1")?.pod.metadata?.uid).toBe(uid);
    expect(node.runtime.running()).toHaveLength(1);
    expect(node.invariants.violations).toEqual([]);
    const calls = callNames(node);
    expect(calls.indexOf("createContainer c")).toBeGreaterThan(calls.indexOf("stopContainer"));
  });
});

describe("K10 static pods that refer to API objects", () => {
  it.each([
    ["a service account", { spec: ["serviceAccountName: default"] }, "serviceaccounts"],
    ["a secret", { spec: ["volumes:", "- name: v", "  secret: {secretName: s}"] }, "secrets"],
    [
      "a config map",
      {
        container: ["env:", "- name: X", "  valueFrom: {configMapKeyRef: {name: m, key: k}}"],
      },
      "configmaps",
    ],
  ])("%s: refused with file and reason; the neighbours run", async (_, more, resource) => {
    const { node } = await started({ "bad.yaml": manifest("bad", more), "good.yaml": manifest("good") });
    expect(names(node)).toEqual(["good-node-1"]);
    expect(node.runtime.sandboxes().map(({ metadata }) => metadata.name)).toEqual(["good-node-1"]);
    expect(
      warnings(node).some(
        (line) => line.includes("bad.yaml") && line.includes(`static pods may not reference ${resource}`),
      ),
    ).toBe(true);
  });
});

describe("K11 an edited static pod", () => {
  it("gives the old container its grace, and starts the new one only when that has ended", async () => {
    const made = manifestNode({
      runtime: { programs: [() => ({ onStop: { afterMs: 10 * SECOND, exitCode: 0 } })] },
    });
    const { node } = made;
    const text = manifest("web", { metadata: ["labels:", "  v: one"] }).replace("Seconds: 2", "Seconds: 20");
    made.write("web.yaml", text);
    node.start();
    await untilPhase(node, "web-node-1", "Running");
    const [old] = node.runtime.running();
    const beganMs = node.clock.nowMs();
    let exitedMs = 0;
    let startedMs = 0;
    node.runtime.onChange((change) => {
      if (change.kind !== "container") return;
      if (change.containerId === old?.id && change.to === "CONTAINER_EXITED") exitedMs = change.atMs - beganMs;
      if (change.containerId !== old?.id && change.to === "CONTAINER_RUNNING") startedMs = change.atMs - beganMs;
    });
    made.write("web.yaml", text.replace("v: one", "v: two"));
    await node.clock.advance(MINUTE);
    expect(exitedMs).toBeGreaterThanOrEqual(10 * SECOND);
    expect(exitedMs).toBeLessThanOrEqual(13 * SECOND);
    expect(startedMs).toBeGreaterThanOrEqual(exitedMs);
    expect(statusOf(node, "web-node-1").phase).toBe("Running");
    expect(node.runtime.running()).toHaveLength(1);
  });
});
