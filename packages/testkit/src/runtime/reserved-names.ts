import { NodeletError } from "@nodelet/core";

/**
 * Names of sandboxes or containers that are taken, each by one id. As in containerd a name is taken from the moment that a call to make the
 * object arrives, before the object can be seen, until it is removed or its making failed.
 */
export class ReservedNames {
  readonly #what: "sandbox" | "container";
  readonly #hint: string;
  readonly #idByName = new Map<string, string>();

  constructor(options: { readonly what: "sandbox" | "container"; readonly hint: string }) {
    this.#what = options.what;
    this.#hint = options.hint;
  }

  /** Throws `alreadyExists` with containerd's words when another id has the name. */
  reserve(request: { readonly name: string; readonly id: string }): void {
    const { name, id } = request;
    const holder = this.#idByName.get(name);
    if (holder !== undefined && holder !== id) {
      const reserved = `name "${name}" is reserved for "${holder}"`;
      throw new NodeletError(
        "alreadyExists",
        `failed to reserve ${this.#what} name "${name}"${this.#hint}: ${reserved}`,
      );
    }
    this.#idByName.set(name, id);
  }

  release(name: string): void {
    this.#idByName.delete(name);
  }
}
