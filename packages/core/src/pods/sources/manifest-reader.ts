import { withDeadline } from "../../async/delay.ts";
import { isErrorOfKind, NodeletError } from "../../errors/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DirectoryEntry, DirectoryWatch, PathLook } from "../../ports/directory-watch.ts";
import { MAX_MANIFEST_BYTES } from "../manifest/index.ts";
import { decodeStaticPods } from "../static-pods.ts";
import { type FileOutcome, type FileReading, looksComplete } from "./manifest-file.ts";

const CALL_TIMEOUT_MS = 10_000;
const MAX_ENTRIES = 10_000;

/** Looks at the path and reads manifests from it, each call with a deadline. */
export class ManifestReader {
  readonly #options: {
    readonly watch: DirectoryWatch;
    readonly clock: Clock;
    readonly path: string;
    readonly nodeName: string;
    readonly refuseApiReferences: boolean;
  };

  constructor(options: {
    readonly watch: DirectoryWatch;
    readonly clock: Clock;
    readonly path: string;
    readonly nodeName: string;
    readonly refuseApiReferences: boolean;
  }) {
    this.#options = options;
  }

  /** One look. Throws NodeletError. */
  async look(signal: AbortSignal): Promise<PathLook> {
    const { watch, path, clock } = this.#options;
    const what = `looking at the manifests in ${path}`;
    return await withDeadline({ clock, timeoutMs: CALL_TIMEOUT_MS, what, parent: signal }, (inner) =>
      watch.look({ path, maxEntries: MAX_ENTRIES, signal: inner }),
    );
  }

  /** Reads and decodes one file (`name` absent: the path itself). Undefined when it went away or the signal fired; never throws. */
  async read(file: {
    readonly name: string | undefined;
    readonly entry: DirectoryEntry;
    readonly signal: AbortSignal;
  }): Promise<FileReading | undefined> {
    const { watch, path, clock } = this.#options;
    const location = this.locationOf(file.name);
    try {
      const content = await withDeadline(
        { clock, timeoutMs: CALL_TIMEOUT_MS, what: `reading ${location}`, parent: file.signal },
        (signal) =>
          watch.read({
            path,
            ...(file.name !== undefined && { name: file.name }),
            maxBytes: MAX_MANIFEST_BYTES,
            signal,
          }),
      );
      const text = new TextDecoder().decode(content.bytes);
      return {
        entry: content.entry,
        looksComplete: looksComplete(text),
        outcome: this.#decode({ bytes: content.bytes, location }),
      };
    } catch (error) {
      if (file.signal.aborted || isErrorOfKind(error, "notFound")) return undefined;
      const message = `${location}: ${NodeletError.from(error).message}`;
      return { entry: file.entry, looksComplete: true, outcome: { kind: "bad", message } };
    }
  }

  /** Absolute path of an entry; of the path itself without a name. */
  locationOf(name: string | undefined): string {
    const { path } = this.#options;
    return name === undefined ? path : `${path.replace(/\/+$/, "")}/${name}`;
  }

  #decode({ bytes, location }: { readonly bytes: Uint8Array; readonly location: string }): FileOutcome {
    const { nodeName, refuseApiReferences } = this.#options;
    try {
      const decoded = decodeStaticPods({ bytes, origin: { kind: "file", location }, nodeName, refuseApiReferences });
      const [pod] = decoded.pods;
      return pod === undefined
        ? { kind: "bad", message: `${location}: holds no pod` }
        : { kind: "pod", pod, warnings: decoded.warnings };
    } catch (error) {
      return { kind: "bad", message: NodeletError.from(error).message };
    }
  }
}
