import type { RuntimeChange } from "./runtime-change.ts";
import type { RuntimeControl } from "./runtime-control.ts";

/** An invariant that was broken, and when. */
export interface InvariantViolation {
  readonly rule: "two live containers in one slot" | "two ready sandboxes for one pod";
  readonly detail: string;
  /** Wall time, milliseconds since the epoch. */
  readonly atMs: number;
}

/**
 * Watches an in-memory runtime at every change for what must never be: two running containers for one container of one pod UID, and two READY
 * sandboxes for one pod UID.
 */
export class RuntimeInvariants {
  readonly #violations: InvariantViolation[] = [];
  readonly #running = new Map<string, Set<string>>();
  readonly #ready = new Map<string, Set<string>>();
  readonly #stop: () => void;

  constructor(runtime: RuntimeControl) {
    for (const sandbox of runtime.sandboxes()) {
      if (sandbox.state === "SANDBOX_READY") add(this.#ready, sandbox.metadata.uid, sandbox.id);
    }
    for (const container of runtime.running()) {
      add(this.#running, `${container.podUid}/${container.metadata.name}`, container.id);
    }
    this.#stop = runtime.onChange((change) => this.#check(change));
  }

  /** What was broken so far; empty is well. */
  get violations(): readonly InvariantViolation[] {
    return this.#violations;
  }

  /** Watches no longer. */
  stop(): void {
    this.#stop();
  }

  #check(change: RuntimeChange): void {
    if (change.kind === "sandbox") {
      const ready = change.to === "SANDBOX_READY";
      const ids = ready
        ? add(this.#ready, change.podUid, change.sandboxId)
        : drop(this.#ready, change.podUid, change.sandboxId);
      if (ready && ids.size > 1)
        this.#note("two ready sandboxes for one pod", `${change.podUid}: ${[...ids].join(", ")}`, change.atMs);
      return;
    }
    const slot = `${change.podUid}/${change.containerName}`;
    const running = change.to === "CONTAINER_RUNNING";
    const ids = running ? add(this.#running, slot, change.containerId) : drop(this.#running, slot, change.containerId);
    if (running && ids.size > 1)
      this.#note("two live containers in one slot", `${slot}: ${[...ids].join(", ")}`, change.atMs);
  }

  #note(rule: InvariantViolation["rule"], detail: string, atMs: number): void {
    this.#violations.push({ rule, detail, atMs });
  }
}

function add(map: Map<string, Set<string>>, key: string, id: string): ReadonlySet<string> {
  const ids = map.get(key) ?? new Set();
  map.set(key, ids.add(id));
  return ids;
}

function drop(map: Map<string, Set<string>>, key: string, id: string): ReadonlySet<string> {
  const ids = map.get(key) ?? new Set();
  ids.delete(id);
  if (ids.size === 0) map.delete(key);
  return ids;
}
