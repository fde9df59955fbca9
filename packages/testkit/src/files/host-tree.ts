/** A file, a symbolic link or a directory of a HostTree. */
export type HostNode =
  | { readonly kind: "file"; content: string }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "directory"; readonly entries: Map<string, HostNode> };

/**
 * Part of a host's file system in memory: directories, text files, symbolic links (which are never followed), and the places where something
 * is mounted. Paths are absolute. It knows nothing of pods; several in-memory adapters share one.
 */
export class HostTree {
  readonly #root: HostNode & { kind: "directory" } = { kind: "directory", entries: new Map() };
  readonly #mounts = new Set<string>();

  /** The node at a path. */
  get(path: string): HostNode | undefined {
    let node: HostNode | undefined = this.#root;
    for (const part of partsOf(path)) {
      node = node?.kind === "directory" ? node.entries.get(part) : undefined;
      if (node === undefined) return undefined;
    }
    return node;
  }

  /** Makes a directory with its parents; what is in the way of one is replaced. */
  makeDirectory(path: string): Map<string, HostNode> {
    let { entries } = this.#root;
    for (const part of partsOf(path)) {
      const next = entries.get(part);
      if (next?.kind === "directory") {
        entries = next.entries;
        continue;
      }
      const made: HostNode = { kind: "directory", entries: new Map() };
      entries.set(part, made);
      entries = made.entries;
    }
    return entries;
  }

  /** Writes a file, making its directory. */
  write(file: { readonly path: string; readonly content: string }): void {
    this.#put(file.path, { kind: "file", content: file.content });
  }

  /** Adds to a file, making it when it is not there. */
  append(file: { readonly path: string; readonly content: string }): void {
    const node = this.get(file.path);
    if (node?.kind === "file") node.content += file.content;
    else this.write(file);
  }

  /** Makes a symbolic link, replacing what was there. */
  link(link: { readonly path: string; readonly target: string }): void {
    this.#put(link.path, { kind: "link", target: link.target });
  }

  /** Content of a file; undefined when there is none. */
  read(path: string): string | undefined {
    const node = this.get(path);
    return node?.kind === "file" ? node.content : undefined;
  }

  exists(path: string): boolean {
    return this.get(path) !== undefined;
  }

  /** Names in a directory, sorted; none when there is no directory. */
  list(path: string): readonly string[] {
    const node = this.get(path);
    return node?.kind === "directory" ? [...node.entries.keys()].sort() : [];
  }

  /** Removes whatever is there, with all below it. Idempotent. */
  remove(path: string): void {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) return;
    const parent = this.get(`/${parts.join("/")}`);
    if (parent?.kind === "directory") parent.entries.delete(name);
  }

  /** Notes that something is mounted at a path, or no longer. */
  setMounted(mount: { readonly path: string; readonly mounted: boolean }): void {
    const path = `/${partsOf(mount.path).join("/")}`;
    if (mount.mounted) this.#mounts.add(path);
    else this.#mounts.delete(path);
  }

  /** Whether something is mounted at a path or below it. */
  mountedUnder(path: string): boolean {
    const prefix = `/${partsOf(path).join("/")}`;
    return [...this.#mounts].some((mount) => mount === prefix || mount.startsWith(`${prefix}/`));
  }

  /** Every file, link and empty directory below a path, sorted: what a test compares to show that nothing leaked. */
  paths(under = "/"): readonly string[] {
    const found: string[] = [];
    const visit = (path: string, node: HostNode) => {
      if (node.kind !== "directory" || node.entries.size === 0) found.push(path === "" ? "/" : path);
      else for (const [name, child] of node.entries) visit(`${path}/${name}`, child);
    };
    const start = this.get(under);
    if (start !== undefined) visit(under.replace(/\/+$/, ""), start);
    return found.sort();
  }

  #put(path: string, node: HostNode): void {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name !== undefined) this.makeDirectory(`/${parts.join("/")}`).set(name, node);
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
