import type { Pod } from "../../api/index.ts";
import type { DirectoryEntry } from "../../ports/directory-watch.ts";
import { podFullName } from "../annotations.ts";
import { sameValue } from "../same-value.ts";
import {
  type FileReading,
  isSettled,
  type LookTime,
  type ManifestFile,
  missEntry,
  newManifestFile,
  seeEntry,
  settle,
  takeReading,
  wantsReading,
} from "./manifest-file.ts";

/** A file whose pod another file already gives. */
export interface DuplicateFile {
  readonly name: string;
  readonly earlier: string;
  readonly pod: Pod;
}

/** The manifest files of one path and the pods that they come to. Holds no clock and does no I/O. */
export class ManifestSet {
  readonly #files = new Map<string, ManifestFile>();

  /** Notes what a look found. */
  see(entries: readonly DirectoryEntry[], now: LookTime): void {
    const seen = new Set<string>();
    for (const entry of entries) {
      seen.add(entry.name);
      const file = this.#files.get(entry.name);
      this.#files.set(entry.name, file === undefined ? newManifestFile(entry, now) : seeEntry(file, { entry, now }));
    }
    for (const [name, file] of this.#files) {
      if (seen.has(name)) continue;
      const missed = missEntry(file, now);
      if (missed === undefined) this.#files.delete(name);
      else this.#files.set(name, missed);
    }
  }

  /** Files whose content should be read now. */
  wanted(now: LookTime): ManifestFile[] {
    return [...this.#files.values()].filter((file) => wantsReading(file, now));
  }

  /** Takes what was read of a file. */
  take(read: { readonly name: string; readonly reading: FileReading; readonly now: LookTime }): void {
    const file = this.#files.get(read.name);
    if (file === undefined) return;
    this.#files.set(read.name, takeReading(seeEntry(file, { entry: read.reading.entry, now: read.now }), read.reading));
  }

  /** Lets files count that have rested for long enough; answers after how many milliseconds more of them may. */
  settle(options: { readonly now: LookTime; readonly keepMs: number }): number | undefined {
    let againInMs: number | undefined;
    for (const [name, file] of this.#files) {
      const result = settle(file, options);
      this.#files.set(name, result.file);
      if (result.againInMs !== undefined) againInMs = Math.min(againInMs ?? Number.POSITIVE_INFINITY, result.againInMs);
    }
    return againInMs;
  }

  /** All files by name. */
  get files(): readonly ManifestFile[] {
    return [...this.#files.keys()].sort().flatMap((name) => this.#files.get(name) ?? []);
  }

  get isSettled(): boolean {
    return [...this.#files.values()].every(isSettled);
  }

  /** The pods of all settled files; of one namespace and name the first file's in sorted order, so that the choice is the same after a restart. */
  pods(told: readonly Pod[]): { readonly pods: readonly Pod[]; readonly duplicates: readonly DuplicateFile[] } {
    const firstOf = new Map<string, string>();
    const toldByUid = new Map(told.map((pod) => [pod.metadata?.uid, pod]));
    const pods: Pod[] = [];
    const duplicates: DuplicateFile[] = [];
    for (const { name, settled } of this.files) {
      if (settled?.outcome.kind !== "pod") continue;
      const { pod } = settled.outcome;
      const earlier = firstOf.get(podFullName(pod));
      if (earlier !== undefined) {
        duplicates.push({ name, earlier, pod });
        continue;
      }
      firstOf.set(podFullName(pod), name);
      pods.push(sameAsTold(pod, toldByUid.get(pod.metadata?.uid)));
    }
    return { pods, duplicates };
  }
}

/** A pod that says what it said before stays the object that it was. */
function sameAsTold(pod: Pod, before: Pod | undefined): Pod {
  return before !== undefined && sameValue(before, pod) ? before : pod;
}
