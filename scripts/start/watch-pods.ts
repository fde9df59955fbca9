import { setTimeout as sleep } from "node:timers/promises";
import { isPodReady, lookAtPods, type PodLook, podName } from "@nodelet/console";
import { type DemoNode, StartProblem } from "./demo-node.ts";
import type { PodScreen } from "./pod-screen.ts";

const PERIOD_MS = 500;
/** Every example pod is Ready long before, on the slowest machine too. */
const READY_TIMEOUT_MS = 240_000;
/** Pods end within their grace period, 30 s unless they say otherwise. */
const GONE_TIMEOUT_MS = 90_000;

interface Watch {
  readonly node: DemoNode;
  readonly screen: PodScreen;
}

/** Shows the pods until the signal fires, or (`exitWhenReady`) until each of them has been Ready. Throws when that takes too long. */
export async function watchUntil(
  watch: Watch & { readonly exitWhenReady: boolean; readonly stop: AbortSignal },
): Promise<void> {
  const { node, stop, exitWhenReady } = watch;
  const wereReady = new Set<string>();
  let justReady: ReadonlySet<string> = new Set();
  const startMs = performance.now();
  while (!stop.aborted) {
    const { looks, complete } = await look(node);
    const ready = new Set(looks.filter(({ pod }) => isPodReady(pod)).map(({ pod }) => pod.metadata?.uid ?? ""));
    // Twice in a row: a container that crashes at once is ready for an instant, too.
    for (const uid of ready) if (justReady.has(uid)) wereReady.add(uid);
    justReady = ready;
    const missing = looks.filter(({ pod }) => !wereReady.has(pod.metadata?.uid ?? ""));
    const allReady = complete && looks.length > 0 && missing.length === 0;
    show(watch, { looks, state: stateLine({ missing, allReady, exitWhenReady }) });
    if (exitWhenReady && allReady) return;
    if (exitWhenReady && performance.now() - startMs > READY_TIMEOUT_MS)
      throw new StartProblem(
        `after ${READY_TIMEOUT_MS / 1000} s these pods have not been Ready yet: ${missing.map(({ pod }) => podName(pod)).join(", ")}`,
      );
    await Promise.race([pause(stop), node.failure]);
  }
}

/** Takes the pods away and shows how they end. Answers what did not end in time. */
export async function watchGone(watch: Watch & { readonly hurry: AbortSignal }): Promise<readonly string[]> {
  const { node, hurry } = watch;
  await node.withdrawPods();
  const endMs = performance.now() + GONE_TIMEOUT_MS;
  for (;;) {
    const { looks } = await look(node);
    const state = looks.length === 0 ? "All pods are gone." : "Stopping the pods ...";
    show({ ...watch, node: { ...node, hints: [] } }, { looks, state });
    if (looks.length === 0) return [];
    if (hurry.aborted || performance.now() > endMs) return looks.map(({ pod }) => podName(pod));
    await Promise.race([pause(hurry), node.failure]);
  }
}

async function look(node: DemoNode): Promise<{ readonly looks: readonly PodLook[]; readonly complete: boolean }> {
  const asked = Promise.all([lookAtPods(node.window), node.window.status()]);
  const [looks, status] = await Promise.race([asked, node.failure]);
  return { looks, complete: (status as { readonly ready?: unknown } | null)?.ready === true };
}

function show({ node, screen }: Watch, now: { readonly looks: readonly PodLook[]; readonly state: string }): void {
  screen.show({ title: node.title, hints: node.hints, ...now });
}

function stateLine(now: {
  readonly missing: readonly PodLook[];
  readonly allReady: boolean;
  readonly exitWhenReady: boolean;
}): string {
  if (now.allReady) return "Every pod has been Ready.";
  if (now.missing.length === 0) return "Waiting for the first pods ...";
  const names = now.missing.map(({ pod }) => podName(pod)).join(", ");
  return `Not Ready yet: ${names}`;
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(PERIOD_MS, undefined, { signal }).catch(() => undefined);
}
