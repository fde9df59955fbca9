import { describe, expect, it } from "vitest";
import { failureOf, setUp } from "./cri-adapter.test-support.ts";
import { type Script, ScriptedStatus, versionAnswer } from "./scripted-runtime.test-support.ts";

describe("capabilities", () => {
  const counted = (script: Script): { script: Script; calls: Record<string, number> } => {
    const calls: Record<string, number> = {};
    const count = (name: string) => (calls[name] = (calls[name] ?? 0) + 1);
    return {
      calls,
      script: Object.fromEntries(
        Object.entries(script).map(([name, answer]) => [
          name,
          (...args: never[]) => {
            count(name);
            return (answer as (...all: never[]) => unknown)(...args);
          },
        ]),
      ) as Script,
    };
  };

  it("of an old runtime are none, found out once", async () => {
    const { script, calls } = counted({
      version: () => versionAnswer,
      listPodSandbox: () => ({ items: [{ id: "a" }] }),
      listContainers: () => ({ containers: [{ id: "b" }] }),
    });
    const { adapter } = await setUp(script);
    const none = {
      containerEvents: false,
      streamedLists: false,
      cgroupDriver: undefined,
      updatePodSandboxResources: false,
      metrics: false,
    };
    expect(await adapter.runtime.capabilities()).toEqual(none);
    await adapter.runtime.version();
    const asked = calls.version;
    expect(await adapter.runtime.capabilities()).toEqual(none);
    expect(calls.version).toBe(asked);
    expect((await adapter.runtime.listSandboxes()).map(({ id }) => id)).toEqual(["a"]);
    expect((await adapter.runtime.listContainers()).map(({ id }) => id)).toEqual(["b"]);
    const watch = adapter.runtime.watchContainerEvents({ onEvent: () => {}, signal: new AbortController().signal });
    expect((await failureOf(watch)).kind).toBe("unsupported");
  });

  it("of a new runtime are all, and it is asked for lists in pieces", async () => {
    const { script, calls } = counted({
      version: () => versionAnswer,
      streamPodSandboxes: async function* ({ filter }) {
        if (filter?.id !== "") return;
        yield { podSandboxes: [{ id: "a" }, { id: "b" }] };
        yield { podSandboxes: [{ id: "c" }] };
      },
      streamContainers: async function* ({ filter }) {
        if (filter !== undefined && filter.id !== "") return;
        yield { containers: [{ id: "x" }] };
      },
      getContainerEvents: async function* (_request, { cancelled }) {
        await cancelled;
        yield {};
      },
      updatePodSandboxResources: () => {
        throw new ScriptedStatus("NOT_FOUND", "no such sandbox");
      },
      listMetricDescriptors: () => ({}),
      runtimeConfig: () => ({ linux: { cgroupDriver: 0 } }),
    });
    const { adapter } = await setUp(script);
    const all = {
      containerEvents: true,
      streamedLists: true,
      cgroupDriver: "systemd",
      updatePodSandboxResources: true,
      metrics: true,
    };
    expect(await adapter.runtime.capabilities()).toEqual(all);
    expect((await adapter.runtime.listSandboxes({ state: "SANDBOX_READY" })).map(({ id }) => id)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect((await adapter.runtime.listContainers()).map(({ id }) => id)).toEqual(["x"]);
    expect(calls.streamPodSandboxes).toBe(2);
    expect(calls.runtimeConfig).toBe(1);
  });

  it("are asked again when the runtime could not be reached, or came back as another version", async () => {
    const setup = await setUp({ listPodSandbox: () => ({}) });
    setup.server.stop();
    expect((await failureOf(setup.adapter.runtime.capabilities())).kind).toBe("unavailable");
    await setup.server.serve({ version: () => versionAnswer, listPodSandbox: () => ({}) });
    await expect
      .poll(
        () =>
          setup.adapter.runtime.capabilities().then(
            (all) => all.metrics,
            () => undefined,
          ),
        { timeout: 5000 },
      )
      .toBe(false);
    setup.server.stop();
    expect((await failureOf(setup.adapter.runtime.listSandboxes())).kind).toBe("unavailable");
    await setup.server.serve({ version: () => versionAnswer, listMetricDescriptors: () => ({}) });
    await expect
      .poll(
        () =>
          setup.adapter.runtime.capabilities().then(
            (all) => all.metrics,
            () => undefined,
          ),
        { timeout: 5000 },
      )
      .toBe(true);
  });

  it("a list that breaks half-way is no list", async () => {
    const { adapter } = await setUp({
      streamPodSandboxes: async function* () {
        yield { podSandboxes: [{ id: "a" }] };
        throw new ScriptedStatus("INTERNAL", "store is closed");
      },
      listPodSandbox: () => ({ items: [{ id: "z" }] }),
    });
    expect(await failureOf(adapter.runtime.listSandboxes())).toMatchObject({
      kind: "internal",
      message: "store is closed",
    });
  });
});

describe("container events", () => {
  it("arrive in order until the signal fires, with no deadline", async () => {
    const setup = await setUp({
      getContainerEvents: async function* (_request, { cancelled }) {
        yield { containerId: "a", containerEventType: 0 };
        yield { containerId: "b", containerEventType: 1, podSandboxStatus: { metadata: { uid: "u" } } };
        await cancelled;
      },
    });
    const seen: string[] = [];
    const stop = new AbortController();
    const watch = setup.adapter.runtime.watchContainerEvents({
      onEvent: ({ containerId, type, podUid }) => void seen.push(`${containerId} ${type} ${podUid}`),
      signal: stop.signal,
    });
    await expect.poll(() => seen).toEqual(["a CONTAINER_CREATED_EVENT undefined", "b CONTAINER_STARTED_EVENT u"]);
    await setup.clock.advance(24 * 3_600_000);
    stop.abort();
    await watch;
  });

  it("a stream that ends or breaks is unavailable", async () => {
    const setup = await setUp({
      getContainerEvents: async function* () {
        yield { containerId: "a" };
      },
    });
    const watch = () =>
      setup.adapter.runtime.watchContainerEvents({ onEvent: () => {}, signal: new AbortController().signal });
    expect(await failureOf(watch())).toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/ended its event stream$/) as string,
    });
  });
});
