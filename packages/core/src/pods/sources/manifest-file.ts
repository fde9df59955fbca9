import type { Pod } from "../../api/index.ts";
import type { DirectoryEntry } from "../../ports/directory-watch.ts";

/** What the text of a file came to. */
export type FileOutcome =
  | { readonly kind: "pod"; readonly pod: Pod; readonly warnings: readonly string[] }
  | { readonly kind: "bad"; readonly message: string };

/** Text that was read, and whether it looks like all of it. */
export interface FileReading {
  readonly entry: DirectoryEntry;
  /** Ends as a whole text does: with a line's end, or with the bracket that closes a JSON object. */
  readonly looksComplete: boolean;
  readonly outcome: FileOutcome;
}

/**
 * Everything known of one manifest file. Immutable. A file counts only once it has settled: writers make a file in several steps, and half of
 * a manifest may well be a valid pod. Until then it stands for what it stood for before.
 */
export interface ManifestFile {
  readonly name: string;
  /** As last seen. */
  readonly entry: DirectoryEntry;
  /** Monotonic time at which this entry was first seen. */
  readonly sinceMs: number;
  /** The file rested in another form since it last settled: somebody writes it bit by bit. */
  readonly writtenInSteps: boolean;
  /** Of the present entry. */
  readonly reading?: FileReading;
  /** What counts. */
  readonly settled?: FileReading;
  /** Monotonic time since which the file is not there. */
  readonly missingSinceMs?: number;
}

/** The two clocks at one look. */
export interface LookTime {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** How long a whole text must have rested: longer than any program takes between two writes without thinking. */
const SHORT_QUIET_MS = 30;
/** How long anything else must have rested. */
const LONG_QUIET_MS = 1500;
/** A change after so long a rest means that the writer pauses. */
const PAUSE_MS = 100;
/** How long a file must be away before its pod goes: editors move files about when they save. */
const MISSING_MS = 100;

/** The file at first sight. */
export function newManifestFile(entry: DirectoryEntry, now: LookTime): ManifestFile {
  return { name: entry.name, entry, sinceMs: now.monotonicMs, writtenInSteps: false };
}

/** The file after another look that found `entry`. */
export function seeEntry(
  file: ManifestFile,
  seen: { readonly entry: DirectoryEntry; readonly now: LookTime },
): ManifestFile {
  const { missingSinceMs: _, ...present } = file;
  if (sameEntry(file.entry, seen.entry)) return file.missingSinceMs === undefined ? file : present;
  const wasSettled = file.settled !== undefined && sameEntry(file.settled.entry, file.entry);
  const paused = !wasSettled && seen.now.monotonicMs - file.sinceMs >= PAUSE_MS;
  const { reading: __, ...rest } = present;
  return {
    ...rest,
    entry: seen.entry,
    sinceMs: seen.now.monotonicMs,
    writtenInSteps: !wasSettled && (file.writtenInSteps || paused),
  };
}

/** The file after a look that did not find it; undefined once it has been away for long enough. */
export function missEntry(file: ManifestFile, now: LookTime): ManifestFile | undefined {
  const sinceMs = file.missingSinceMs ?? now.monotonicMs;
  return now.monotonicMs - sinceMs >= MISSING_MS ? undefined : { ...file, missingSinceMs: sinceMs };
}

/** True when the present content should be read now. */
export function wantsReading(file: ManifestFile, now: LookTime): boolean {
  if (file.missingSinceMs !== undefined || isSettled(file)) return false;
  return (
    (file.reading === undefined || !sameEntry(file.reading.entry, file.entry)) && quietMs(file, now) >= SHORT_QUIET_MS
  );
}

/** Takes what was read; a reading of another state of the file is dropped. */
export function takeReading(file: ManifestFile, reading: FileReading): ManifestFile {
  return sameEntry(file.entry, reading.entry) ? { ...file, reading } : file;
}

/** What a settling file came to. */
export interface SettleResult {
  readonly file: ManifestFile;
  /** Milliseconds after which to look again; undefined when the file rests. */
  readonly againInMs?: number;
}

/**
 * Lets a reading count when the file has rested for long enough. `keepMs` is how long a pod outlives the file that gave it when the file turns
 * bad: the time in which the kubelet's own next scan would have dropped it.
 */
export function settle(file: ManifestFile, options: { readonly now: LookTime; readonly keepMs: number }): SettleResult {
  const { now } = options;
  if (file.missingSinceMs !== undefined)
    return { file, againInMs: Math.max(1, MISSING_MS - (now.monotonicMs - file.missingSinceMs)) };
  if (isSettled(file)) return { file };
  const quiet = quietMs(file, now);
  const { reading } = file;
  if (reading === undefined) return { file, againInMs: Math.max(1, SHORT_QUIET_MS - quiet) };
  const needed = neededQuietMs({ file, reading, keepMs: options.keepMs });
  if (quiet < needed) return { file, againInMs: Math.max(1, needed - quiet) };
  return { file: { ...file, settled: reading, writtenInSteps: false } };
}

/** True while the present content does not count yet. */
export function isSettled(file: ManifestFile): boolean {
  return file.missingSinceMs === undefined && file.settled !== undefined && sameEntry(file.settled.entry, file.entry);
}

function neededQuietMs(input: {
  readonly file: ManifestFile;
  readonly reading: FileReading;
  readonly keepMs: number;
}): number {
  const { file, reading } = input;
  if (reading.outcome.kind === "bad" && file.settled?.outcome.kind === "pod")
    return Math.max(LONG_QUIET_MS, input.keepMs);
  return reading.looksComplete && !file.writtenInSteps ? SHORT_QUIET_MS : LONG_QUIET_MS;
}

/** How long the content has rested: as we saw it, or as its own time says (a file moved here whole, or written before we started). */
function quietMs(file: ManifestFile, now: LookTime): number {
  const ownQuietMs = now.wallMs - file.entry.mtimeMs;
  return Math.max(now.monotonicMs - file.sinceMs, ownQuietMs);
}

/** True when nothing tells the two apart. */
function sameEntry(left: DirectoryEntry, right: DirectoryEntry): boolean {
  return (
    left.type === right.type &&
    left.sizeBytes === right.sizeBytes &&
    left.mtimeMs === right.mtimeMs &&
    left.fileId === right.fileId
  );
}

/** Whether a text ends as a whole one does. */
export function looksComplete(text: string): boolean {
  return text.endsWith("\n") || /^\s*\{[^]*\}\s*$/.test(text);
}
