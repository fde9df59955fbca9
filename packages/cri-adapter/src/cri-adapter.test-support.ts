import type { NodeletError, SandboxConfig } from "@nodelet/core";
import { VirtualClock } from "@nodelet/testkit";
import { afterEach, expect } from "vitest";
import { type CriAdapter, type CriAdapterOptions, createCriAdapter } from "./cri-adapter.ts";
import { type Script, ScriptedRuntime, versionAnswer } from "./scripted-runtime.test-support.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Runs when the test is over, last one first. */
export function cleanUpLater(cleanup: () => void): void {
  cleanups.push(cleanup);
}

/** An adapter, the clock that its deadlines run on, and the runtime that it speaks to. */
export interface Setup {
  readonly adapter: CriAdapter;
  readonly clock: VirtualClock;
  readonly server: ScriptedRuntime;
}

/** An adapter for an endpoint, closed after the test. */
export function adapterFor(
  endpoint: string,
  options: Partial<CriAdapterOptions> = {},
): { adapter: CriAdapter; clock: VirtualClock } {
  const clock = new VirtualClock();
  const adapter = createCriAdapter({ runtimeEndpoint: endpoint, clock, ...options });
  cleanUpLater(() => adapter.close());
  return { adapter, clock };
}

/** A scripted runtime (that answers Version) and an adapter for it. */
export async function setUp(script: Script, options: Partial<CriAdapterOptions> = {}): Promise<Setup> {
  const server = await ScriptedRuntime.start({ version: () => versionAnswer, ...script });
  cleanUpLater(() => server.close());
  return { server, ...adapterFor(server.endpoint, options) };
}

/** The error that a call fails with; a call that succeeds fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<NodeletError> {
  return call.then(
    () => expect.unreachable("the call succeeded"),
    (error: unknown) => error as NodeletError,
  );
}

/** Waits until the connection is up, so that the next call leaves at once. */
export async function connected({ adapter }: Setup): Promise<void> {
  await adapter.runtime.version();
}

/** A promise and the function that fulfils it. */
export function signalled(): { readonly seen: Promise<void>; readonly notify: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { seen: promise, notify: resolve };
}

/** The least that makes a sandbox. */
export const sandboxConfig: SandboxConfig = { metadata: { name: "p", uid: "u", namespace: "n", attempt: 0 } };
