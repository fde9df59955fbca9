import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { CriContainerState } from "@nodelet/core";
import { SeededRandom } from "@nodelet/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { container, obedient, podManifest } from "./harness/manifests.ts";
import { isForgottenByContainerd, isReady, NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

const KILLS = 20;
const steadyNames = Array.from({ length: 8 }, (_, index) => `steady-${index}`);
const churnNames = Array.from({ length: 12 }, (_, index) => `churn-${index}`);

/** The same moments in every run, as far as real time lets them be; name another seed to look elsewhere. */
const seed = process.env["NODELET_SEED"] ?? "1";

describe.each(["1.6", "2.1"] as const)(
  `an agent killed ${KILLS} times, NODELET_SEED=${seed}, on containerd %s`,
  (version) => {
    const random = new SeededRandom(`${seed}-${version}`);
    const between = (least: number, most: number): number => least + Math.floor(random.float() * (most - least));
    let node: NodeUnderTest;
    beforeAll(async () => {
      node = await NodeUnderTest.prepare(version);
      await node.agent.start();
    });
    afterAll(() => node?.close());

    /** Revision by name; only of those whose file is there. */
    const wanted = new Map<string, number>();
    let revision = 0;
    const write = async (name: string): Promise<void> => {
      revision += 1;
      const labels = { revision: String(revision) };
      await node.agent.writeManifest(
        `${name}.yaml`,
        podManifest(name, { containers: [container("main", obedient)] }, { labels }),
      );
      wanted.set(name, revision);
    };
    const remove = async (name: string): Promise<void> => {
      await node.agent.removeManifest(`${name}.yaml`);
      wanted.delete(name);
    };

    /** Adds, edits and removes files until it is told to stop. */
    const churn = async (stop: AbortSignal): Promise<void> => {
      while (!stop.aborted) {
        const name = churnNames[between(0, churnNames.length)] ?? "";
        if (wanted.has(name) && random.float() < 0.5) await remove(name);
        else await write(name);
        await sleep(between(50, 700));
      }
    };

    const instances = async (): Promise<Record<string, string>> => {
      const containers = await node.containers();
      const steady = containers.filter(({ labels }) => labels["io.kubernetes.pod.name"]?.startsWith("steady-"));
      return Object.fromEntries(
        steady.map(({ id, labels, state }) => [`${labels["io.kubernetes.pod.name"]} ${id}`, state]),
      );
    };

    /** The runtime has exactly one ready sandbox and one running container for each wanted pod, of the wanted revision. */
    const expectExactly = async (): Promise<void> => {
      const pods = await node.agent.pods();
      const shown = pods.filter(isReady).map(({ metadata }) => `${metadata?.name} ${metadata?.labels?.["revision"]}`);
      const files = [...wanted].map(([name, number]) => `${node.agent.podName(name)} ${number}`);
      expect(shown.sort()).toEqual(files.sort());
      expect(pods).toHaveLength(files.length);
      const uids = pods.map(({ metadata }) => metadata?.uid ?? "").sort();
      const sandboxes = await node.sandboxes();
      expect(sandboxes.map(({ metadata, state }) => `${metadata.uid} ${state}`).sort()).toEqual(
        uids.map((uid) => `${uid} SANDBOX_READY`),
      );
      const containers = await node.containers();
      const uidsIn = (state: CriContainerState): string[] =>
        containers.filter((each) => each.state === state).map(({ labels }) => labels["io.kubernetes.pod.uid"] ?? "");
      expect(uidsIn("CONTAINER_RUNNING").sort()).toEqual(uids);
      // A start that was cut off counts as one that failed, of which the last is kept.
      const ended = uidsIn("CONTAINER_EXITED");
      expect(ended).toHaveLength(containers.length - uids.length);
      expect(new Set(ended).size).toBe(ended.length);
      expect(uids).toEqual(expect.arrayContaining(ended));
      const { root, logs, links } = node.agent.dirs;
      expect((await readdir(`${root}/pods`)).sort()).toEqual(uids);
      expect((await readdir(logs)).map((name) => name.split("_")[2] ?? "").sort()).toEqual(uids);
      const linked = (await readdir(links)).map((name) => /-([0-9a-f]{64})\.log$/.exec(name)?.[1] ?? name);
      expect(containers.map(({ id }) => id)).toEqual(expect.arrayContaining(linked));
      const unlinked = containers.filter(({ id, state }) => state === "CONTAINER_RUNNING" && !linked.includes(id));
      expect(
        unlinked.map(({ id, metadata, labels }) => `${labels["io.kubernetes.pod.name"]} ${metadata.name} ${id}`),
      ).toEqual([]);
      const leftovers = await node.leftovers();
      const cgroups = leftovers.flatMap((what) => /^cgroup .*\/pod([0-9a-f]{32})$/.exec(what)?.[1] ?? []);
      expect([...new Set(cgroups)].sort()).toEqual(uids);
    };

    it("comes to exactly what the files say, restarts nothing that ran, and leaks nothing", async () => {
      for (const name of [...steadyNames, ...churnNames]) await write(name);
      for (const name of wanted.keys()) await node.waitForReady(name);
      const before = await instances();
      expect(Object.keys(before)).toHaveLength(steadyNames.length);

      const stop = new AbortController();
      const churning = churn(stop.signal);
      for (let kill = 0; kill < KILLS; kill += 1) {
        // From before its first look at anything to the middle of its work.
        await sleep(between(300, 2_300));
        await node.agent.kill9();
        expect(await instances()).toEqual(before);
        await node.agent.spawn();
      }
      stop.abort();
      await churning;
      await node.agent.whenReady();
      await node.waitFor({
        what: "the runtime and the machine to have exactly what the files say",
        timeoutMs: 120_000,
        until: async () => {
          await expectExactly();
          return true;
        },
      });
      expect(await instances()).toEqual(before);
      for (const name of steadyNames)
        expect(stateOf((await node.agent.pod(name)) ?? {})).toMatchObject({ restartCount: 0 });
      expect(await node.agent.log()).not.toContain("A fault that nothing handled");
    }, 300_000);

    it("nothing is left when the files are gone", async () => {
      for (const name of [...wanted.keys()]) await remove(name);
      await node.waitForNothingLeft({ except: isForgottenByContainerd });
      expect(await node.agent.pods()).toEqual([]);
    });
  },
);
