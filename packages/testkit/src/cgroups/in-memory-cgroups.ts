import {
  type CallOptions,
  type CgroupManager,
  type CgroupName,
  type CgroupResources,
  NodeletError,
  throwIfAborted,
} from "@nodelet/core";

/** Cgroups in memory: which there are and what limits they have. Parents are named as the cgroupfs driver names them. */
export class InMemoryCgroups implements CgroupManager {
  readonly #limits = new Map<string, CgroupResources>();

  parentFor(name: CgroupName): string {
    for (const part of name) {
      if (part === "" || part.includes("/") || part.includes("_")) {
        throw new NodeletError(
          "invalid",
          `cgroup name part ${JSON.stringify(part)} may not be empty or hold "/" or "_"`,
        );
      }
    }
    return `/${name.join("/")}`;
  }

  async ensure(
    request: { readonly name: CgroupName; readonly resources: CgroupResources } & CallOptions,
  ): Promise<void> {
    throwIfAborted(request.signal, "ensuring a cgroup");
    const path = this.parentFor(request.name);
    for (let length = 1; length < request.name.length; length += 1) {
      const ancestor = this.parentFor(request.name.slice(0, length));
      if (!this.#limits.has(ancestor)) this.#limits.set(ancestor, {});
    }
    this.#limits.set(path, { ...this.#limits.get(path), ...request.resources });
  }

  async destroy(request: { readonly name: CgroupName } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "removing a cgroup");
    const path = this.parentFor(request.name);
    for (const name of [...this.#limits.keys()]) {
      if (name === path || name.startsWith(`${path}/`)) this.#limits.delete(name);
    }
  }

  async exists(request: { readonly name: CgroupName } & CallOptions): Promise<boolean> {
    throwIfAborted(request.signal, "looking for a cgroup");
    return this.#limits.has(this.parentFor(request.name));
  }

  async children(request: { readonly name: CgroupName } & CallOptions): Promise<readonly string[]> {
    throwIfAborted(request.signal, "listing cgroups");
    const prefix = request.name.length === 0 ? "/" : `${this.parentFor(request.name)}/`;
    const names = [...this.#limits.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length));
    return names.filter((name) => !name.includes("/")).sort();
  }

  /** Limits of a cgroup as last written; undefined when there is none. */
  limits(name: CgroupName): CgroupResources | undefined {
    return this.#limits.get(this.parentFor(name));
  }

  /** All paths, sorted. */
  paths(): readonly string[] {
    return [...this.#limits.keys()].sort();
  }
}
