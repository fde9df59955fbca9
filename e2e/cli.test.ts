import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DecisionRecord, Pod, PodList } from "@nodelet/core";
import { listLeftovers } from "@nodelet/dev-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { podManifest } from "./harness/manifests.ts";
import { NodeUnderTest } from "./harness/node-under-test.ts";

const repository = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const bin = (name: string): string => join(repository, "packages/cli/bin", name);

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the program's commands to its end. */
function nodelet(args: readonly string[], program = "nodelet.js"): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin(program), ...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr });
    });
  });
}

describe("without an agent", () => {
  it.each([
    ["nodelet.js", ["--version"], "Kubernetes v1.36.2\n"],
    ["kubelet.js", ["--version=true"], "Kubernetes v1.36.2\n"],
    ["kubelet.js", ["--max-pods=5", "--version"], "Kubernetes v1.36.2\n"],
  ])("%s %j says the version", async (program, args, stdout) => {
    expect(await nodelet(args, program)).toEqual({ code: 0, stdout, stderr: "" });
  });

  it.each([
    [["--max-podss=3"], "unknown flag --max-podss; did you mean --max-pods?"],
    [["--max_pods=x"], '--max-pods: expected a whole number of 32 bits, found "x"'],
    [["podss"], 'unknown command "podss"; did you mean pods?'],
    [["-v"], "the flag -v needs a value"],
    [["explain"], "something is missing after the command; see --help"],
    [["--config=/no/such.yaml"], "/no/such.yaml: there is no such file or directory"],
    [["--version=1"], "--version=1: expected --version, --version=raw or --version=false"],
    [
      ["pods", "--root-dir=/no/such"],
      "no agent listens on /no/such/nodelet.sock: is an agent running with this --root-dir?",
    ],
  ])("%j is refused in a sentence", async (args, message) => {
    const result = await nodelet(args);
    expect(result).toMatchObject({ code: 1, stdout: "", stderr: `nodelet: ${message}\n` });
  });

  it("is called by the name it was started by, and lists every flag", async () => {
    const { stdout, code } = await nodelet(["--help"], "kubelet.js");
    expect(code).toBe(0);
    expect(stdout).toContain("kubelet pods");
    for (const flag of ["--pod-manifest-path", "--container-runtime-endpoint", "--take-over", "--feature-gates"])
      expect(stdout).toContain(flag);
    expect(stdout).toMatch(/--sync-frequency[\s\S]*?\[default: 1m0s\]/);
  });
});

describe("an agent on containerd 2.1", () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare("2.1");
    await node.agent.start();
    await node.agent.writeManifest("web.yaml", podManifest("web"));
    await node.waitForReady("web");
  });
  afterAll(() => node.close());

  const root = (): string => `--root-dir=${node.agent.dirs.root}`;

  it("is healthy soon after its start", async () => {
    await node.agent.sigterm();
    const startMs = performance.now();
    await node.agent.spawn();
    await node.waitFor({
      what: "the health listener to answer",
      until: async () => (await node.agent.get("health", "/healthz")).text === "ok",
    });
    const elapsedMs = performance.now() - startMs;
    // Half a second on an idle machine; the sources, and a machine that others use as well, take their time.
    console.log(`start to healthy: ${Math.round(elapsedMs)} ms`);
    expect(elapsedMs).toBeLessThan(10_000);
    await node.agent.whenReady();
  });

  it.each([
    ["health", "/healthz", 200, "ok"],
    ["health", "/pods", 404, "404 page not found\n"],
    ["readOnly", "/healthz", 200, "ok"],
    ["readOnly", "/healthz/syncloop", 200, "ok"],
    ["readOnly", "/healthz?verbose", 200, "[+]ping ok\n[+]syncloop ok\nhealthz check passed\n"],
    ["readOnly", "/exec/default/web/main", 405, "Debug endpoints are disabled.\n"],
  ] as const)("%s listener: %s", async (listener, path, status, text) => {
    expect(await node.agent.get(listener, path)).toEqual({ status, text });
  });

  it("shows the same pods over HTTP and to the command", async () => {
    const overHttp = JSON.parse((await node.agent.get("readOnly", "/pods")).text) as PodList;
    expect(overHttp).toMatchObject({ kind: "PodList", apiVersion: "v1", metadata: {} });
    const { stdout, code } = await nodelet(["pods", "--output", "json", root()]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(overHttp);
    const [pod] = overHttp.items as [Pod];
    expect(pod.metadata).toMatchObject({
      name: "web-n1",
      namespace: "default",
      annotations: { "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": pod.metadata?.uid },
    });
    expect(pod.spec).toMatchObject({ nodeName: "n1", restartPolicy: "Always", schedulerName: "default-scheduler" });
    expect(pod.status).toMatchObject({
      phase: "Running",
      qosClass: "BestEffort",
      containerStatuses: [{ ready: true }],
    });
  });

  it("shows pods as a table", async () => {
    const { stdout } = await nodelet(["pods", root()]);
    const [titles, row, ...others] = stdout.trimEnd().split("\n");
    expect(titles).toMatch(/^POD +PHASE +READY +RESTARTS +IP +AGE +LAST DECISION$/);
    expect(row).toMatch(/^web-n1 +Running +1\/1 +0 +10\.\d+\.\d+\.\d+ +\d+\w* +/);
    expect(others).toEqual([]);
  });

  it("tells changes a line each while it is watched, until it is interrupted", async () => {
    const child = spawn(process.execPath, [bin("nodelet.js"), "pods", "--watch", root()], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    await node.waitFor({ what: "the first line", until: () => /web-n1 Running ready 1\/1/.test(text) });
    await node.agent.writeManifest("second.yaml", podManifest("second"));
    await node.waitFor({ what: "the second pod's line", until: () => /second-n1 Running ready 1\/1/.test(text) });
    await node.agent.removeManifest("second.yaml");
    await node.waitFor({ what: "its end", until: () => /second-n1 gone/.test(text) });
    const ended = once(child, "exit");
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  });

  it.each(["web-n1", "default/web-n1"])("explains a pod named %s, newest last", async (name) => {
    const { stdout } = await nodelet(["explain", name, "--output=json", root()]);
    const records = (JSON.parse(stdout) as { items: DecisionRecord[] }).items;
    expect(records.map(({ seq }) => seq)).toEqual(records.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(records.every(({ pod }) => pod?.name === "web-n1")).toBe(true);
    // The agent was started again: it found the pod.
    expect(records[0]).toMatchObject({ action: "adopt", reason: "AlreadyRunning", outcome: "ok" });
    const table = (await nodelet(["explain", name, root()])).stdout;
    expect(table).toMatch(/^AGE +OUTCOME +ACTION +CONTAINER +REASON\n/);
    for (const { message } of records) expect(table).toContain(message.replace(/\s+/g, " "));
  });

  it("says which pods there are when asked about another one", async () => {
    const { code, stderr } = await nodelet(["explain", "nobody", root()]);
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was decided about a pod "nobody"; the agent has default/web-n1');
  });

  it("is the only one on its runtime and on its root directory: others are told whose they are", async () => {
    const holder = `node n1, process ${node.agent.pid}, root directory ${node.agent.dirs.root}`;
    const second = node.addAgent({ name: "second" });
    await second.spawn();
    expect(await second.ended()).toBe("exit code 1");
    expect(await second.log()).toContain(
      `the runtime ${node.containerd.endpoint} is in use by another agent: ${holder}; stop it first`,
    );
    // It failed before it made anything but its root directory.
    expect(await readdir(second.dirs.root)).toEqual([]);
    const third = node.addAgent({
      name: "third",
      flags: [root(), "--container-runtime-endpoint=unix:///run/other.sock"],
    });
    await third.spawn();
    expect(await third.ended()).toBe("exit code 1");
    expect(await third.log()).toContain(
      `the root directory ${node.agent.dirs.root} is in use by another agent: ${holder}; stop it first`,
    );
    expect((await node.agent.status()).ready).toBe(true);
  });

  it("leaves its pods running at SIGTERM, and finds them again", async () => {
    const before = await node.containerStatus({ pod: "web", container: "main" });
    expect(await node.agent.sigterm()).toBe("exit code 0");
    expect(await node.containerStatus({ pod: "web", container: "main" })).toEqual(before);
    expect((await readdir(node.agent.dirs.root)).filter((name) => name.startsWith("nodelet"))).toEqual([]);
    await node.agent.start();
    await node.waitForReady("web");
    expect(await node.containers({ pod: "web" })).toHaveLength(1);
    expect(await node.containerStatus({ pod: "web", container: "main" })).toEqual(before);
  });

  it("stops when its own command asks it to, and its pods run on", async () => {
    const result = await nodelet(["stop", root()]);
    expect(result).toEqual({ code: 0, stdout: "The agent has stopped; its pods run on.\n", stderr: "" });
    expect(await node.agent.ended()).toBe("exit code 0");
    expect(await node.containerStatus({ pod: "web", container: "main" })).toMatchObject({
      state: "CONTAINER_RUNNING",
    });
    expect((await nodelet(["stop", root()])).code).toBe(1);
  });

  it("says which listener is in the way", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await node.agent.spawn([`--healthz-port=${port}`]);
    expect(await node.agent.ended()).toBe("exit code 1");
    expect(await node.agent.log()).toContain(
      `the health listener cannot use 127.0.0.1:${port}: another process listens there; choose another port, or 0 to switch it off`,
    );
  });

  it("waits for a runtime that is not there, and says so", async () => {
    const dir = join(node.containerd.dir, "absent");
    const lonely = node.addAgent({ name: "lonely", flags: [`--container-runtime-endpoint=unix://${dir}/c.sock`] });
    await lonely.spawn();
    await node.waitFor({
      what: "the message",
      until: async () =>
        (await lonely.log()).includes(`container runtime at unix://${dir}/c.sock: there is no such socket`),
    });
    expect((await lonely.get("health", "/healthz")).text).toBe("ok");
    expect((await lonely.status()).ready).toBe(false);
    expect(await lonely.sigterm()).toBe("exit code 0");
  });

  it("takes a second signal for an order to end at once", async () => {
    await node.agent.start();
    const { pid = 0 } = node.agent;
    process.kill(pid, "SIGTERM");
    process.kill(pid, "SIGTERM");
    expect(["exit code 0", "exit code 1"]).toContain(await node.agent.ended());
    expect(await node.containerStatus({ pod: "web", container: "main" })).toMatchObject({
      state: "CONTAINER_RUNNING",
    });
  });
});

describe("npm start", () => {
  const start = (args: readonly string[]): Promise<Run> =>
    new Promise((resolve) => {
      const command = ["--conditions=nodelet-source", join(repository, "scripts/start.ts"), ...args];
      execFile(process.execPath, command, { timeout: 170_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr });
      });
    });
  const everyPodWasReady = (text: string): void => {
    for (const pod of ["web", "pair", "crash-loop", "job"]) {
      expect(text).toMatch(new RegExp(`${pod}-nodelet Running ready (\\d)/\\1 `));
      expect(text).toMatch(new RegExp(`${pod}-nodelet gone`));
    }
    expect(text).toContain("crash-loop-nodelet Running (CrashLoopBackOff)");
    expect(text).toContain("job-nodelet Succeeded");
    expect(text).toMatch(/Everything is taken down, after \d+ s\.\n$/);
  };

  it("brings the example pods to Ready in a simulation", async () => {
    const { code, stdout, stderr } = await start(["--simulate", "--exit-when-ready"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    everyPodWasReady(stdout);
  });

  it("brings them to Ready on a containerd of its own and leaves nothing behind", async () => {
    const { code, stdout, stderr } = await start(["--exit-when-ready"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    everyPodWasReady(stdout);
    expect(await readdir(join(repository, ".nodelet"))).toEqual(["cache"]);
  });

  describe("on a runtime that runs already", () => {
    let node: NodeUnderTest;
    beforeAll(async () => {
      node = await NodeUnderTest.prepare("2.1");
    });
    afterAll(() => node.close());

    it("uses it and leaves nothing of the pods there", async () => {
      const { code, stdout, stderr } = await start([
        "--exit-when-ready",
        `--runtime-endpoint=${node.containerd.endpoint}`,
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      everyPodWasReady(stdout);
      expect(await node.sandboxes()).toEqual([]);
      const left = await listLeftovers(node.containerd.record);
      expect(left.filter(({ kind }) => kind !== "cgroup")).toEqual([]);
      expect(await readdir(join(repository, ".nodelet"))).toEqual(["cache"]);
    });

    it("refuses it when it holds pods of another agent", async () => {
      await node.agent.start();
      await node.agent.writeManifest("web.yaml", podManifest("web"));
      await node.waitForReady("web");
      await node.agent.sigterm();
      const { code, stderr } = await start(["--exit-when-ready", `--runtime-endpoint=${node.containerd.endpoint}`]);
      expect(code).toBe(1);
      expect(stderr).toContain(
        `the runtime at ${node.containerd.endpoint} holds pods of another agent: default/web-n1.`,
      );
      expect(await node.containerStatus({ pod: "web", container: "main" })).toMatchObject({
        state: "CONTAINER_RUNNING",
      });
    });
  });
});
