import { newestInstance } from "../observed-pod.ts";
import type {
  CreateContainerStep,
  EnsureImageStep,
  PlanStep,
  StartContainerStep,
  WaitingContainer,
} from "../pod-plan.ts";
import type { PodSnapshot } from "../pod-snapshot.ts";
import { crashBackOffMessage } from "./back-off-message.ts";
import type { RosterEntry } from "./container-roster.ts";

/**
 * Collects the steps that bring containers up, in the order in which they shall start. The image is made sure of at once, beside everything
 * else; creation needs the image and the sandbox and waits until the start before it in the chain ended; the start needs the creation.
 * That keeps upstream's order of what people see (Created and Started of one container before Created of the next, a postStart hook done before
 * the next container exists) while no container waits for the sandbox before its image is fetched.
 */
export class StartChain {
  readonly #snapshot: PodSnapshot;
  readonly #sandboxId: string | undefined;
  readonly #sandboxNeeds: readonly string[];
  readonly #steps: PlanStep[] = [];
  readonly #waiting: WaitingContainer[] = [];
  /** Start step before the next one. A plain init container is always the last of its plan, so nothing ever depends on its success. */
  #previous: string | undefined;

  constructor(options: {
    readonly snapshot: PodSnapshot;
    /** The serving sandbox; undefined when step `runSandbox` makes it. */
    readonly sandboxId: string | undefined;
  }) {
    this.#snapshot = options.snapshot;
    this.#sandboxId = options.sandboxId;
    this.#sandboxNeeds = options.sandboxId === undefined ? ["runSandbox"] : [];
  }

  get steps(): readonly PlanStep[] {
    return this.#steps;
  }

  get waiting(): readonly WaitingContainer[] {
    return this.#waiting;
  }

  /**
   * Adds a container. `kills` are the steps that end its former instances: creation needs them all. One in crash back-off is put among the
   * waiting instead.
   */
  add(entry: RosterEntry, kills: readonly string[] = []): void {
    const { pod, crashBackOff } = this.#snapshot;
    const backOff = crashBackOff.get(entry.name);
    if (backOff !== undefined && backOff.untilMs > this.#snapshot.nowMs) {
      const message = crashBackOffMessage({ pod, containerName: entry.name, durationMs: backOff.durationMs });
      this.#waiting.push({ containerName: entry.name, reason: "CrashLoopBackOff", message, untilMs: backOff.untilMs });
      return;
    }
    const { image, create, start } = this.#stepsOf(entry, kills);
    this.#steps.push(image, create, start);
    // Ephemeral containers stand beside the chain: looking into a pod never delays it.
    if (entry.kind !== "ephemeral") this.#previous = start.id;
  }

  #stepsOf(
    entry: RosterEntry,
    kills: readonly string[],
  ): { readonly image: EnsureImageStep; readonly create: CreateContainerStep; readonly start: StartContainerStep } {
    const of = { containerName: entry.name, containerKind: entry.kind };
    const previous = entry.kind === "ephemeral" ? undefined : this.#previous;
    const image: EnsureImageStep = { kind: "ensureImage", id: `image:${entry.name}`, needs: [], after: [], ...of };
    const create: CreateContainerStep = {
      kind: "createContainer",
      id: `create:${entry.name}`,
      needs: [...this.#sandboxNeeds, image.id, ...kills],
      after: previous === undefined ? [] : [previous],
      ...of,
      restartCount: nextRestartCount(this.#snapshot, entry.name),
      sandboxId: this.#sandboxId,
    };
    const start: StartContainerStep = {
      kind: "startContainer",
      id: `start:${entry.name}`,
      needs: [create.id],
      after: [],
      ...of,
    };
    return { image, create, start };
  }
}

/**
 * Restart count of the next instance: the newest instance's plus one; without one the highest log's plus one; else 0. Never less than what a
 * status showed before.
 */
function nextRestartCount(snapshot: PodSnapshot, containerName: string): number {
  const newest = newestInstance(snapshot.observed, containerName);
  const log = snapshot.highestLogAttempt.get(containerName);
  const next = newest !== undefined ? newest.restartCount + 1 : log !== undefined ? log + 1 : 0;
  return Math.max(next, snapshot.shownRestartCount?.get(containerName) ?? 0);
}
