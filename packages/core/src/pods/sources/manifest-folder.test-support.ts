import { NodeletError } from "../../errors/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  DirectoryEntry,
  DirectoryHint,
  DirectoryWatch,
  FileContent,
  PathLook,
} from "../../ports/directory-watch.ts";

interface StoredFile {
  readonly text: string;
  readonly mtimeMs: number;
  readonly id: number;
  readonly type: DirectoryEntry["type"];
}

/** A directory in memory, on the clock of the test. */
export class ManifestFolder implements DirectoryWatch {
  readonly path = "/etc/manifests";
  /** What the path is at the moment. */
  kind: "directory" | "absent" | "other" | "file" = "directory";
  /** Thrown by each look while set. */
  fault: NodeletError | undefined;
  /** Without hints only the regular scan finds changes. */
  hints = true;
  looks = 0;
  reads: string[] = [];
  readonly #clock: Clock;
  readonly #files = new Map<string, StoredFile>();
  readonly #listeners = new Set<(hint: DirectoryHint) => void>();
  #nextId = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Writes a file as a program does: new content, new time, the same file when it was there. */
  write(
    name: string,
    text: string,
    options: { readonly ageMs?: number; readonly type?: DirectoryEntry["type"] } = {},
  ): void {
    const id = this.#files.get(name)?.id ?? this.#nextId++;
    const mtimeMs = this.#clock.nowMs() - (options.ageMs ?? 0);
    this.#files.set(name, { text, mtimeMs, id, type: options.type ?? "file" });
    this.#hint(name);
  }

  append(name: string, text: string): void {
    this.write(name, (this.#files.get(name)?.text ?? "") + text);
  }

  remove(name: string): void {
    this.#files.delete(name);
    this.#hint(name);
  }

  rename({ from, to }: { readonly from: string; readonly to: string }): void {
    const file = this.#files.get(from);
    if (file === undefined) throw new Error(`no file ${from}`);
    this.#files.delete(from);
    this.#files.set(to, file);
    this.#hint(to);
  }

  async look(): Promise<PathLook> {
    this.looks += 1;
    if (this.fault !== undefined) throw this.fault;
    if (this.kind === "absent" || this.kind === "other") return { kind: this.kind };
    const entries = [...this.#files].map(([name, file]) => entryOf(name, file));
    const [single] = entries;
    if (this.kind === "file") return single === undefined ? { kind: "absent" } : { kind: "file", entry: single };
    return { kind: "directory", entries: entries.reverse() };
  }

  async read({ name }: { readonly name?: string }): Promise<FileContent> {
    const [first] = this.#files.keys();
    const wanted = name ?? first ?? "";
    this.reads.push(wanted);
    const file = this.#files.get(wanted);
    if (file === undefined) throw new NodeletError("notFound", `${wanted} does not exist`);
    return { bytes: new TextEncoder().encode(file.text), entry: entryOf(wanted, file) };
  }

  async watch({
    onChange,
    signal,
  }: {
    readonly onChange: (hint: DirectoryHint) => void;
    readonly signal: AbortSignal;
  }): Promise<void> {
    if (!this.hints) throw new NodeletError("resourceExhausted", "no watches left");
    this.#listeners.add(onChange);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#listeners.delete(onChange);
  }

  #hint(name: string): void {
    for (const listener of this.#listeners) listener({ name });
  }
}

function entryOf(name: string, file: StoredFile): DirectoryEntry {
  return {
    name,
    type: file.type,
    sizeBytes: new TextEncoder().encode(file.text).length,
    mtimeMs: file.mtimeMs,
    fileId: String(file.id),
  };
}
