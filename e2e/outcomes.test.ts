import type { CriContainerStatus, Pod } from "@nodelet/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { container, podManifest, shell } from "./harness/manifests.ts";
import { isReady, NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

const one = (command: readonly string[], more: Parameters<typeof container>[2] = {}) => ({
  containers: [container("main", command, more)],
});

/** All run at once, beside the crash loop, whose back-offs take their time. */
const manifests: readonly Pod[] = [
  podManifest("crash", one(shell("exit 7"))),
  podManifest("never-good", { restartPolicy: "Never", ...one(["true"]) }),
  podManifest("never-bad", { restartPolicy: "Never", ...one(shell("exit 3")) }),
  podManifest("never-mixed", {
    restartPolicy: "Never",
    containers: [container("bad", shell("exit 4")), container("good", shell("sleep 2"))],
  }),
  podManifest("on-failure-good", { restartPolicy: "OnFailure", ...one(["true"]) }),
  podManifest("on-failure-bad", { restartPolicy: "OnFailure", ...one(shell("exit 5")) }),
  podManifest("always-good", one(["true"])),
  podManifest("one-of-two", { containers: [container("up", ["sleep", "3600"]), container("down", shell("exit 6"))] }),
  podManifest("no-image", one(["true"], { image: "localhost/absent:1" })),
  podManifest("never-pull", one(["true"], { image: "localhost/absent:1", imagePullPolicy: "Never" })),
  podManifest("bad-image", one(["true"], { image: "UPPER CASE:x" })),
  podManifest("no-program", one(["/no/such"])),
  podManifest("no-program-never", { restartPolicy: "Never", ...one(["/no/such"]) }),
  podManifest("deadline", { activeDeadlineSeconds: 3, restartPolicy: "Never", ...one(["sleep", "3600"]) }),
];

const versions = ["1.6", "2.1"] as const;
const begun = new Map<string, { readonly node: NodeUnderTest; readonly attempts: AttemptWatch }>();

// Both at once, since most of it is waiting.
beforeAll(async () => {
  await Promise.all(
    versions.map(async (version) => {
      const node = await NodeUnderTest.prepare(version);
      begun.set(version, { node, attempts: new AttemptWatch(node, "crash") });
      await node.agent.start();
      for (const pod of manifests) await node.agent.writeManifest(`${pod.metadata?.name}.yaml`, pod);
    }),
  );
});
afterAll(async () => {
  for (const { node, attempts } of begun.values()) {
    attempts.stop();
    await node.close();
  }
});

describe.each(versions)("how pods fare on containerd %s", (version) => {
  let node: NodeUnderTest;
  let attempts: AttemptWatch;
  beforeAll(() => {
    const parts = begun.get(version);
    if (parts === undefined) throw new Error(`containerd ${version} was not started`);
    ({ node, attempts } = parts);
  });

  const waitForPhase = (name: string, phase: string): Promise<Pod> =>
    node.waitForPod(name, { what: `to be ${phase}`, fits: ({ status }) => status?.phase === phase });

  const waitForWaiting = (name: string, reason: string): Promise<Pod> =>
    node.waitForPod(name, {
      what: `to wait for ${reason}`,
      fits: (pod) => stateOf(pod)?.state?.waiting?.reason === reason,
    });

  const ended = (exitCode: number) => ({ exitCode, reason: exitCode === 0 ? "Completed" : "Error" });

  it.each([
    { name: "never-good", phase: "Succeeded", exitCode: 0 },
    { name: "never-bad", phase: "Failed", exitCode: 3 },
    { name: "on-failure-good", phase: "Succeeded", exitCode: 0 },
  ])("$name ends for good as $phase", async ({ name, phase, exitCode }) => {
    const pod = await waitForPhase(name, phase);
    expect(stateOf(pod)).toMatchObject({ restartCount: 0, ready: false, state: { terminated: ended(exitCode) } });
    expect(isReady(pod)).toBe(false);
    await node.waitFor({
      what: `the sandbox of ${name} to be stopped`,
      until: async () => (await node.sandboxes(name)).every(({ state }) => state === "SANDBOX_NOTREADY"),
    });
    expect(await node.containers({ pod: name })).toHaveLength(1);
  });

  it("runs on until the last of its containers ended, and fails when one of them did", async () => {
    const pod = await waitForPhase("never-mixed", "Failed");
    expect(stateOf(pod, "bad")?.state?.terminated).toMatchObject(ended(4));
    expect(stateOf(pod, "good")?.state?.terminated).toMatchObject(ended(0));
  });

  it.each([
    { name: "on-failure-bad", exitCode: 5 },
    { name: "always-good", exitCode: 0 },
  ])("$name is started again and again", async ({ name, exitCode }) => {
    const pod = await waitForWaiting(name, "CrashLoopBackOff");
    expect(pod.status?.phase).toBe("Running");
    expect(stateOf(pod)?.lastState?.terminated).toMatchObject(ended(exitCode));
  });

  it("keeps a container running whose neighbour crashes", async () => {
    const pod = await node.waitForPod("one-of-two", {
      what: "to have a neighbour that crashed twice",
      fits: (found) => (stateOf(found, "down")?.restartCount ?? 0) >= 1,
    });
    expect(stateOf(pod, "up")).toMatchObject({ restartCount: 0, ready: true });
    expect(pod.status?.phase).toBe("Running");
    expect(pod.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "Ready",
        status: "False",
        reason: "ContainersNotReady",
        message: "containers with unready status: [down]",
      }),
    );
    expect(await node.sandboxes("one-of-two")).toHaveLength(1);
  });

  it("says why an image cannot be had, and backs off", async () => {
    const decisions = async () => (await node.agent.decisions("default/no-image-n1")).map(({ reason }) => reason);
    const pod = await waitForWaiting("no-image", "ImagePullBackOff");
    expect(pod.status?.phase).toBe("Pending");
    const message = stateOf(pod)?.state?.waiting?.message ?? "";
    expect(message).toMatch(/^Back-off pulling image "localhost\/absent:1": ErrImagePull: .*localhost\/absent:1/);
    const reasons = await decisions();
    expect(reasons).toEqual(expect.arrayContaining(["Pulling", "ErrImagePull", "ImagePullBackOff"]));
    expect(reasons.indexOf("ErrImagePull")).toBeLessThan(reasons.indexOf("ImagePullBackOff"));
    expect(await node.containers({ pod: "no-image" })).toEqual([]);
  });

  it("does not pull what must not be pulled, nor what is no name", async () => {
    const never = await waitForWaiting("never-pull", "ErrImageNeverPull");
    expect(stateOf(never)?.state?.waiting?.message).toBe(
      'Container image "localhost/absent:1" is not present with pull policy of Never',
    );
    const bad = await waitForWaiting("bad-image", "InvalidImageName");
    expect(stateOf(bad)?.state?.waiting?.message).toMatch(/^Failed to apply default image tag "UPPER CASE:x"/);
  });

  it("tells of a program that is not there: exit code 128 with the runtime's message", async () => {
    const refused = { exitCode: 128, reason: "StartError", message: expect.stringContaining("/no/such") as string };
    const ended = await waitForPhase("no-program-never", "Failed");
    expect(stateOf(ended)?.state?.terminated).toMatchObject(refused);
    const again = await node.waitForPod("no-program", {
      what: "to be tried again",
      fits: (pod) => (stateOf(pod)?.restartCount ?? 0) >= 1 && stateOf(pod)?.state?.waiting !== undefined,
    });
    expect(stateOf(again)?.lastState?.terminated).toMatchObject(refused);
    const waiting = stateOf(again)?.state?.waiting;
    expect(["RunContainerError", "CrashLoopBackOff"]).toContain(waiting?.reason);
    expect(waiting?.message).toMatch(waiting?.reason === "RunContainerError" ? /\/no\/such/ : /^back-off \d+s /);
    expect(again.status?.phase).toBe("Running");
  });

  it("stops a pod at its deadline", async () => {
    const pod = await waitForPhase("deadline", "Failed");
    expect(pod.status).toMatchObject({
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    await node.waitFor({
      what: "the pod's processes to be stopped",
      until: async () =>
        (await node.containers({ pod: "deadline" })).every(({ state }) => state === "CONTAINER_EXITED"),
    });
  });

  it("starts a crashing container again at once, then after 10 and 20 seconds", async () => {
    await node.waitFor({
      what: "the fourth attempt of the crashing container",
      timeoutMs: 120_000,
      until: () => attempts.seen.has(3),
    });
    const pod = await node.waitForPod("crash", {
      what: "to wait after its fourth attempt",
      fits: (found) => stateOf(found)?.state?.waiting?.message?.startsWith("back-off 40s ") ?? false,
    });
    expect(stateOf(pod)?.state?.waiting?.message).toBe(
      `back-off 40s restarting failed container=main pod=crash-n1_default(${pod.metadata?.uid})`,
    );
    expect(stateOf(pod)).toMatchObject({ restartCount: 3, lastState: { terminated: ended(7) } });
    const pauses = [1, 2, 3].map((attempt) => attempts.pauseBeforeMs(attempt));
    // The first restart waits for nothing; beyond that the machine may be late, never early.
    expect(pauses[0]).toBeLessThan(8_000);
    expect(pauses[1]).toBeGreaterThanOrEqual(9_900);
    expect(pauses[1]).toBeLessThan(18_000);
    expect(pauses[2]).toBeGreaterThanOrEqual(19_900);
    expect(pauses[2]).toBeLessThan(30_000);
  });
});

/** Remembers every attempt of a pod's container "main", since the agent removes all but the last one that ended. */
class AttemptWatch {
  readonly seen = new Map<number, CriContainerStatus>();
  readonly #timer: NodeJS.Timeout;
  #looking = false;

  constructor(node: NodeUnderTest, pod: string) {
    this.#timer = setInterval(() => {
      if (this.#looking) return;
      this.#looking = true;
      // A container may vanish between the list and its status.
      void this.#look(node, pod)
        .catch(() => undefined)
        .finally(() => {
          this.#looking = false;
        });
    }, 200);
  }

  /** From the end of the attempt before to the start of this one, as the runtime has them. */
  pauseBeforeMs(attempt: number): number {
    const [before, now] = [this.seen.get(attempt - 1), this.seen.get(attempt)];
    if (before === undefined || now === undefined) throw new Error(`attempt ${attempt} or the one before was not seen`);
    return Number((now.startedAtNs - before.finishedAtNs) / 1_000_000n);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(node: NodeUnderTest, pod: string): Promise<void> {
    for (const { id } of await node.containers({ pod, container: "main" })) {
      const status = await node.cri.runtime.containerStatus({ containerId: id });
      if (status.state === "CONTAINER_EXITED") this.seen.set(status.metadata.attempt, status);
    }
  }
}
