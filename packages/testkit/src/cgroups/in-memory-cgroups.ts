import {
  type CallOptions,
  type CgroupManager,
  type CgroupName,
  type CgroupResources,
  NodeletError,
  throwIfAborted,
} from "@nodelet/core";
import { requireSegment } from "../files/path-segment.ts";

/** Cgroups in memory: which there are and what limits they have. Parents are named as the cgroupfs driver names them. */
export class InMemoryCgroups implements CgroupManager {
  readonly #limits = new Map<string, CgroupResources>();

  parentFor(name: CgroupName): string {
    for (const part of name) {
      requireSegment({ value: part, what: "cgroup name part" });
      if (part.includes("_")) {
        throw new NodeletError("invalid", `cgroup name part ${JSON.stringify(part)} may not hold "_"`);
      }
    }
    return `/${name.join("/")}`;
  }

  async ensure(
    request: { readonly name: CgroupName; readonly resources: CgroupResources } & CallOptions,
  ): Promise<void> {
    throwIfAborted(request.signal, "ensuring a cgroup");
    const path = this.#changeable(request.name);
    for (let length = 1; length < request.name.length; length += 1) {
      const ancestor = this.parentFor(request.name.slice(0, length));
      if (!this.#limits.has(ancestor)) this.#limits.set(ancestor, {});
    }
    this.#limits.set(path, { ...this.#limits.get(path), ...request.resources });
  }

  async destroy(request: { readonly name: CgroupName } & CallOptions): Promise<void> {
    throwIfAborted(request.signal, "removing a cgroup");
    const path = this.#changeable(request.name);
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
    const paths = [...this.#limits.keys()].filter((path) => path.startsWith(prefix));
    return paths
      .map((path) => path.slice(prefix.length))
      .filter((name) => !name.includes("/"))
      .sort();
  }

  /** Limits of a cgroup as last written; undefined when there is none. */
  limits(name: CgroupName): CgroupResources | undefined {
    return this.#limits.get(this.parentFor(name));
  }

  /** All paths, sorted. */
  paths(): readonly string[] {
    return [...this.#limits.keys()].sort();
  }

  #changeable(name: CgroupName): string {
    if (name.length === 0) throw new NodeletError("invalid", "the root cgroup is neither made nor removed");
    return this.parentFor(name);
  }
}
