import type { Pod } from "../../api/index.ts";
import { delay } from "../../async/delay.ts";
import { Wake } from "../../async/wake.ts";
import { NodeletError } from "../../errors/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DirectoryEntry, DirectoryWatch, PathLook } from "../../ports/directory-watch.ts";
import type { Logger } from "../../ports/logger.ts";
import type { PodSetListener, PodSource, PodSourceRun } from "../../ports/pod-source.ts";
import { isSettled, type LookTime, type ManifestFile } from "./manifest-file.ts";
import { ManifestReader } from "./manifest-reader.ts";
import { ManifestSet } from "./manifest-set.ts";
import { OnceReporter } from "./once-reporter.ts";

/** What a directory source needs. */
export interface DirectoryPodSourceOptions {
  readonly watch: DirectoryWatch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A directory, or one file. */
  readonly path: string;
  readonly nodeName: string;
  readonly fileCheckFrequencyMs: number;
  /** Gate PreventStaticPodAPIReferences. Default true. */
  readonly refuseApiReferences?: boolean;
}

/** Rest after a hint, so that a burst of changes becomes one look. */
const HINT_DEBOUNCE_MS = 2;
/** Least rest between a look and the next one that only hints ask for: something may write into the directory all the time. */
const HINTED_GAP_MS = 100;
/** Files read at one time. */
const READS_AT_ONCE = 16;
/** Longest wait for files that are being written before the first set is told. */
const FIRST_SET_WAIT_MS = 5000;
/** How long a path must be gone before its pods go. */
const ABSENT_PATH_MS = 1500;
const WATCH_RETRY_MIN_MS = 1000;
const WATCH_RETRY_MAX_MS = 20_000;

/**
 * Static pods from a directory or a file (--pod-manifest-path): every file that is not hidden, whatever its extension, one pod each. Looks every
 * fileCheckFrequency and soon after a hint. A bad file is reported and harms no other; half-written ones wait until they rest. A pod
 * outlives a file that turned bad by one fileCheckFrequency, and goes soon after its file went. Of two files for one namespace and
 * name the first in sorted order counts. A path that does not exist wants no pods; one that cannot be looked at keeps its last set.
 */
export class DirectoryPodSource implements PodSource {
  readonly name = "file";
  readonly #options: DirectoryPodSourceOptions;
  readonly #wake: Wake;
  readonly #reader: ManifestReader;
  readonly #reporter: OnceReporter;
  readonly #set = new ManifestSet();
  #told: readonly Pod[] | undefined;
  #isSingleFile = false;
  #absentSinceMs: number | undefined;
  #startedMs = 0;
  /** When the last look ended. */
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Topics of entries that are no files. */
  #oddTopics: ReadonlySet<string> = new Set();

  constructor(options: DirectoryPodSourceOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    this.#reader = new ManifestReader({ ...options, refuseApiReferences: options.refuseApiReferences ?? true });
    this.#reporter = new OnceReporter(options);
  }

  async run({ onPods, decisions, signal }: PodSourceRun): Promise<void> {
    this.#reporter.tellTo(decisions);
    this.#startedMs = this.#options.clock.monotonicMs();
    const watching = this.#keepWatching(signal);
    while (!signal.aborted) {
      const againInMs = await this.#scan({ onPods, signal });
      this.#lookedMs = this.#options.clock.monotonicMs();
      this.#wake.wakeAfter(
        Math.min(againInMs ?? Number.POSITIVE_INFINITY, Math.max(1, this.#options.fileCheckFrequencyMs)),
      );
      await this.#wake.wait(signal);
    }
    await watching;
    this.#wake.clear();
  }

  /** Watches for hints, again and again when watching breaks off. The scan goes on without it. */
  async #keepWatching(signal: AbortSignal): Promise<void> {
    const { watch, path, clock, logger } = this.#options;
    let retryMs = WATCH_RETRY_MIN_MS;
    while (!signal.aborted) {
      try {
        await watch.watch({
          path,
          signal,
          onChange: () => {
            retryMs = WATCH_RETRY_MIN_MS;
            const restMs = this.#lookedMs + HINTED_GAP_MS - clock.monotonicMs();
            this.#wake.wakeAfter(Math.max(HINT_DEBOUNCE_MS, restMs));
          },
        });
      } catch (error) {
        const reason = NodeletError.from(error).message;
        if (!signal.aborted)
          logger.debug(2, "Watching for manifests failed, trying again", { path, reason, retryInMs: retryMs });
      }
      if (!(await delay(clock, retryMs, signal))) return;
      retryMs = Math.min(retryMs * 2, WATCH_RETRY_MAX_MS);
      // What happened while nobody watched is found by looking.
      this.#wake.wake();
    }
  }

  /** One look at everything; answers when to look again before the next regular scan. */
  async #scan({ onPods, signal }: Omit<PodSourceRun, "decisions">): Promise<number | undefined> {
    let look: PathLook;
    try {
      look = await this.#reader.look(signal);
    } catch (error) {
      // Whatever is wrong, what ran goes on running: the last set stands.
      if (!signal.aborted)
        this.#reportPath(`Unable to read the manifest path ${this.#options.path}: ${NodeletError.from(error).message}`);
      return undefined;
    }
    if (look.kind === "other") {
      this.#reportPath(`The manifest path ${this.#options.path} is not a directory or file; make it one of them`);
      return undefined;
    }
    const heldMs = this.#noteAbsence(look);
    if (heldMs !== undefined) return heldMs;
    this.#isSingleFile = look.kind === "file";
    this.#set.see(this.#filesOf(look), this.#now());
    await this.#readWanted(signal);
    return signal.aborted ? undefined : this.#tell(onPods);
  }

  /** Reports a path that went away, and holds its pods for the time a mount or an editor may need. Milliseconds to wait, or undefined. */
  #noteAbsence(look: PathLook): number | undefined {
    if (look.kind !== "absent") {
      this.#absentSinceMs = undefined;
      this.#reporter.over("path");
      return undefined;
    }
    this.#reportPath(`The manifest path ${this.#options.path} does not exist; no static pods are wanted until it does`);
    const nowMs = this.#options.clock.monotonicMs();
    this.#absentSinceMs ??= nowMs;
    const waitMs = ABSENT_PATH_MS - (nowMs - this.#absentSinceMs);
    return (this.#told ?? []).length > 0 && waitMs > 0 ? waitMs : undefined;
  }

  #filesOf(look: PathLook): DirectoryEntry[] {
    if (look.kind === "file") return [look.entry];
    if (look.kind !== "directory") return [];
    const visible = look.entries.filter((entry) => !entry.name.startsWith("."));
    const odd = visible.filter(({ type }) => type !== "file");
    this.#oddTopics = new Set(odd.map(({ name }) => `type:${name}`));
    for (const { name, type } of odd) {
      const path = this.#reader.locationOf(name);
      if (type === "other")
        this.#reporter.fault({
          topic: `type:${name}`,
          path,
          message: `${path} is not a file that can be read; it is left out`,
        });
      if (type === "directory")
        this.#reporter.warning({
          topic: `type:${name}`,
          path,
          message: "Directories among the manifests are left out",
        });
    }
    return visible.filter((entry) => entry.type === "file");
  }

  async #readWanted(signal: AbortSignal): Promise<void> {
    const wanted = this.#set.wanted(this.#now());
    for (let start = 0; start < wanted.length && !signal.aborted; start += READS_AT_ONCE) {
      await Promise.all(
        wanted.slice(start, start + READS_AT_ONCE).map(async ({ name, entry }) => {
          const reading = await this.#reader.read({ name: this.#isSingleFile ? undefined : name, entry, signal });
          if (reading !== undefined)
            this.#set.take({ name, reading: { ...reading, entry: { ...reading.entry, name } }, now: this.#now() });
        }),
      );
    }
  }

  /** Settles what can settle and tells the set when it changed. */
  #tell(onPods: PodSetListener): number | undefined {
    const now = this.#now();
    // Upstream keeps the pod of a single file that turned bad.
    const keepMs = this.#isSingleFile ? Number.POSITIVE_INFINITY : this.#options.fileCheckFrequencyMs;
    const againInMs = this.#set.settle({ now, keepMs });
    for (const file of this.#set.files) this.#reportFile(file);
    if (this.#told === undefined && this.#mustWait(now)) return againInMs;
    const { pods, duplicates } = this.#set.pods(this.#told ?? []);
    for (const { name, earlier, pod } of duplicates) {
      const path = this.#locationOf(name);
      const { name: podName, namespace } = pod.metadata ?? {};
      const message = `${path} is ignored: ${this.#locationOf(earlier)} already gives the pod ${namespace}/${podName}, and the first file in sorted order counts; remove or hide one of them`;
      this.#reporter.fault({ topic: `duplicate:${name}`, path, message });
    }
    const present = new Set([
      "path",
      ...this.#oddTopics,
      ...this.#set.files.map(({ name }) => `file:${name}`),
      ...duplicates.map(({ name }) => `duplicate:${name}`),
    ]);
    this.#reporter.retain((topic) => present.has(topic));
    if (this.#told === undefined || !sameSet(this.#told, pods)) {
      this.#told = pods;
      onPods(pods);
    }
    return againInMs;
  }

  /**
   * The first set marks the source as ready, and what is not in it is removed from the node: files that are just being written are waited
   * for. A single file that is bad is never told as an empty set, as upstream has it.
   */
  #mustWait(now: LookTime): boolean {
    if (this.#isSingleFile) return !this.#set.files.some((file) => file.settled?.outcome.kind === "pod");
    return now.monotonicMs - this.#startedMs < FIRST_SET_WAIT_MS && !this.#set.isSettled;
  }

  #reportFile(file: ManifestFile): void {
    const { reading } = file;
    if (reading === undefined) return;
    const topic = `file:${file.name}`;
    const path = this.#locationOf(file.name);
    if (reading.outcome.kind === "bad") {
      // A text that is still being written is no fault yet.
      const isWhole = isSettled(file) || (reading.looksComplete && !file.writtenInSteps);
      if (isWhole)
        this.#reporter.fault({ topic, path, message: `Could not process manifest file: ${reading.outcome.message}` });
    } else if (isSettled(file) && reading.outcome.warnings.length > 0) {
      this.#reporter.warning({
        topic,
        path,
        message: `Parts of the manifest are ignored: ${reading.outcome.warnings.join("; ")}`,
      });
    } else if (isSettled(file)) {
      this.#reporter.over(topic);
    }
  }

  #reportPath(message: string): void {
    this.#reporter.fault({ topic: "path", path: this.#options.path, message });
  }

  #locationOf(name: string): string {
    return this.#reader.locationOf(this.#isSingleFile ? undefined : name);
  }

  #now(): LookTime {
    const { clock } = this.#options;
    return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  }
}

function sameSet(left: readonly Pod[], right: readonly Pod[]): boolean {
  return left.length === right.length && left.every((pod, index) => pod === right[index]);
}
