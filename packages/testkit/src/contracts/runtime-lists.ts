import { expect } from "vitest";
import type { ContractTest } from "./contract.ts";
import { ContractPod, withPod } from "./contract-pods.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();

/** Lists and their filters. */
export function defineListTests(test: ContractTest<RuntimeFixture>): void {
  test(
    "lists sandboxes by id, state and labels, all filters together",
    withPod(async (pod, { runtime }) => {
      const old = await pod.run({ labels: { tier: "a" } });
      await runtime.stopSandbox({ sandboxId: old });
      const ready = await pod.run({ attempt: 1, labels: { tier: "b" } });
      const labels = { "io.kubernetes.pod.uid": pod.uid };
      expect(idsOf(await runtime.listSandboxes({ labels }))).toEqual([old, ready].sort());
      expect(idsOf(await runtime.listSandboxes({ labels, state: "SANDBOX_READY" }))).toEqual([ready]);
      expect(idsOf(await runtime.listSandboxes({ labels, state: "SANDBOX_NOTREADY" }))).toEqual([old]);
      expect(idsOf(await runtime.listSandboxes({ labels: { ...labels, tier: "b" } }))).toEqual([ready]);
      expect(await runtime.listSandboxes({ labels: { ...labels, tier: "c" } })).toEqual([]);
      expect(await runtime.listSandboxes({ id: old, state: "SANDBOX_READY" })).toEqual([]);
      const [row] = await runtime.listSandboxes({ id: ready });
      const { metadata, annotations } = pod.sandboxConfig({ attempt: 1 });
      expect(row).toMatchObject({ id: ready, metadata, annotations, state: "SANDBOX_READY" });
      expect(idsOf(await runtime.listSandboxes())).toEqual(expect.arrayContaining([old, ready]));
    }),
  );

  test(
    "lists containers by id, sandbox, state and labels, exited ones included",
    withPod(async (pod, { runtime, commands }) => {
      const sandboxId = await pod.run();
      const created = await pod.create(sandboxId, { name: "created" });
      const running = await pod.start(sandboxId, { name: "running" });
      const exited = await pod.start(sandboxId, { name: "exited", command: commands.exits(0), labels: { tier: "x" } });
      await pod.exited(exited);
      const list = async (filter: Parameters<typeof runtime.listContainers>[0]) =>
        idsOf(await runtime.listContainers(filter));
      expect(await list({ sandboxId })).toEqual([created, running, exited].sort());
      expect(await list({ sandboxId, state: "CONTAINER_CREATED" })).toEqual([created]);
      expect(await list({ sandboxId, state: "CONTAINER_RUNNING" })).toEqual([running]);
      expect(await list({ sandboxId, state: "CONTAINER_EXITED" })).toEqual([exited]);
      expect(await list({ labels: { "io.kubernetes.pod.uid": pod.uid, tier: "x" } })).toEqual([exited]);
      expect(await list({ id: running })).toEqual([running]);
      expect(await list({ id: running, state: "CONTAINER_EXITED" })).toEqual([]);
      const [row] = await runtime.listContainers({ id: exited });
      const { metadata, annotations } = pod.containerConfig({ name: "exited" });
      expect(row).toMatchObject({ id: exited, sandboxId, metadata, annotations, state: "CONTAINER_EXITED" });
      expect(row?.imageRef).not.toBe("");
    }),
  );

  test("several pods at once keep apart", async (fixture) => {
    const pods = await Promise.all(Array.from({ length: 4 }, () => ContractPod.make(fixture)));
    try {
      const started = await Promise.all(
        pods.map(async (pod) => {
          const sandboxId = await pod.run();
          return { pod, sandboxId, containerId: await pod.start(sandboxId) };
        }),
      );
      const addresses = new Set<string | undefined>();
      for (const { pod, sandboxId, containerId } of started) {
        const rows = await fixture.runtime.listContainers({ labels: { "io.kubernetes.pod.uid": pod.uid } });
        expect(rows.map((row) => [row.id, row.sandboxId])).toEqual([[containerId, sandboxId]]);
        addresses.add((await fixture.runtime.sandboxStatus({ sandboxId })).ips?.[0]);
      }
      expect(addresses.size).toBe(4);
    } finally {
      await Promise.all(pods.map((pod) => pod.remove()));
    }
  });
}
