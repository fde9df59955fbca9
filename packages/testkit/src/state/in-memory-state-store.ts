import {
  type CallOptions,
  parseJson,
  type StateRead,
  type StateStore,
  stringifyJson,
  throwIfAborted,
} from "@nodelet/core";
import { requireSegment } from "../files/path-segment.ts";

/**
 * State files in memory. Hand the same one to the next agent, and it finds what the last one wrote, as after a crash. Values are kept as JSON
 * text, so that nobody changes what was written.
 */
export class InMemoryStateStore implements StateStore {
  readonly #texts = new Map<string, string>();
  readonly #damaged = new Map<string, string>();
  #setAside = 0;

  async read(request: { readonly name: string } & CallOptions): Promise<StateRead> {
    throwIfAborted(request.signal, "reading state");
    const { name } = request;
    requireSegment({ value: name, what: "state file" });
    const reason = this.#damaged.get(name);
    if (reason !== undefined) {
      this.#damaged.delete(name);
      this.#setAside += 1;
      return { kind: "damaged", setAside: `${name}.damaged-${this.#setAside}`, reason };
    }
    const text = this.#texts.get(name);
    return text === undefined ? { kind: "absent" } : { kind: "ok", value: parseJson(text) };
  }

  async write(request: { readonly name: string; readonly value: unknown } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "writing state");
    requireSegment({ value: request.name, what: "state file" });
    this.#damaged.delete(request.name);
    this.#texts.set(request.name, stringifyJson(request.value));
  }

  /** Damages a file: the next read sets it aside and says so, later ones find none. */
  corrupt(request: { readonly name: string; readonly reason?: string }): void {
    this.#texts.delete(request.name);
    this.#damaged.set(request.name, request.reason ?? "checksum does not match");
  }

  /** Takes a file away. */
  lose(name: string): void {
    this.#texts.delete(name);
    this.#damaged.delete(name);
  }

  /** The names of the files that can be read. */
  names(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }
}
