import { createHash } from "node:crypto";
import { type Clock, parseJson, type StateRead, type StateStore, stringifyJson } from "@nodelet/core";
import {
  assertPlainName,
  isAbsent,
  readFileBounded,
  removeTemporaries,
  type SafeDirectory,
  UnsafePathError,
  withDirectory,
  writeFileAtomic,
} from "@nodelet/lib-safe-fs";
import { hostCall } from "../errors/host-error.ts";

const FORMAT = "nodelet-state";
const VERSION = 1;
const FILE_MODE = 0o600;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * State files of our own in one existing directory. A file has two lines: a header `{"format":"nodelet-state","version":1,"sha256":"…"}`
 * and the value as JSON, which the hash is over. A file of another form, with another hash or of a later version is renamed to
 * `<name>.damaged-<time>` when it is read. Writes of one name are done one after the other. Integers beyond 2^53 are read as bigints.
 */
export class FileStateStore implements StateStore {
  readonly #directory: string;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #queues = new Map<string, Promise<void>>();
  #cleaned: Promise<void> | undefined;

  constructor(options: { readonly directory: string; readonly clock: Pick<Clock, "nowMs"> }) {
    this.#directory = options.directory;
    this.#clock = options.clock;
  }

  async read(request: { readonly name: string; readonly signal?: AbortSignal }): Promise<StateRead> {
    const { name, signal } = request;
    return hostCall({ what: `cannot read the state file ${name}`, signal }, () =>
      this.#inTurn(name, () => this.#inDirectory((directory) => this.#readFrom(directory, name))),
    );
  }

  async write(request: {
    readonly name: string;
    readonly value: unknown;
    readonly signal?: AbortSignal;
  }): Promise<void> {
    const { name, value, signal } = request;
    await hostCall({ what: `cannot write the state file ${name}`, signal }, async () => {
      // Taken at the call: the caller may change its value while an earlier write is still on its way.
      const payload = stringifyJson(value);
      const header = JSON.stringify({ format: FORMAT, version: VERSION, sha256: sha256(payload) });
      const data = `${header}\n${payload}\n`;
      await this.#inTurn(name, () =>
        this.#inDirectory((directory) => writeFileAtomic({ directory, name, data, mode: FILE_MODE })),
      );
    });
  }

  async #readFrom(directory: SafeDirectory, name: string): Promise<StateRead> {
    try {
      const text = (await readFileBounded({ directory, name, maxBytes: MAX_BYTES })).toString("utf8");
      const content = decode(text);
      return content.ok ? { kind: "ok", value: content.value } : await this.#setAside(directory, name, content.reason);
    } catch (error) {
      if (isAbsent(error)) return { kind: "absent" };
      if (error instanceof UnsafePathError) return this.#setAside(directory, name, error.message);
      throw error;
    }
  }

  async #setAside(directory: SafeDirectory, name: string, reason: string): Promise<StateRead> {
    const stamp = new Date(this.#clock.nowMs()).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
    let setAside = `${name}.damaged-${stamp}`;
    for (let next = 2; (await directory.look(setAside)) !== undefined; next += 1) {
      setAside = `${name}.damaged-${stamp}-${next}`;
    }
    await directory.rename({ from: name, to: setAside });
    await directory.sync();
    return { kind: "damaged", setAside: `${directory.path}/${setAside}`, reason };
  }

  async #inDirectory<T>(use: (directory: SafeDirectory) => Promise<T>): Promise<T> {
    return withDirectory({ root: this.#directory, local: true }, async (directory) => {
      // Once, before the first write can be under way: what a crash in the middle of a write left.
      this.#cleaned ??= removeTemporaries(directory).then(() => undefined);
      await this.#cleaned;
      return use(directory);
    });
  }

  async #inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    assertPlainName(name, this.#directory);
    const turn = (this.#queues.get(name) ?? Promise.resolve()).then(work);
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#queues.set(name, settled);
    try {
      return await turn;
    } finally {
      if (this.#queues.get(name) === settled) this.#queues.delete(name);
    }
  }
}

type Decoded = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

function decode(text: string): Decoded {
  const end = text.indexOf("\n");
  const header = end < 0 ? undefined : parseHeader(text.slice(0, end));
  if (header === undefined) return { ok: false, reason: "the first line is not a header of a nodelet state file" };
  if (header.version !== VERSION) {
    return { ok: false, reason: `it has version ${header.version}, and this nodelet reads version ${VERSION}` };
  }
  const payload = text.slice(end + 1).replace(/\n$/, "");
  if (sha256(payload) !== header.sha256)
    return { ok: false, reason: "the content does not have the hash of its header" };
  try {
    return { ok: true, value: parseJson(payload) };
  } catch (error) {
    return { ok: false, reason: `the content is not JSON: ${String(error)}` };
  }
}

function parseHeader(line: string): { readonly version: number; readonly sha256: string } | undefined {
  try {
    const header = JSON.parse(line) as { format?: unknown; version?: unknown; sha256?: unknown } | null;
    if (header?.format !== FORMAT || typeof header.version !== "number" || typeof header.sha256 !== "string")
      return undefined;
    return { version: header.version, sha256: header.sha256 };
  } catch {
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
