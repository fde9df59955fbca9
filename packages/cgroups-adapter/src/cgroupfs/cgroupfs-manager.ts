import { type CgroupManager, type CgroupName, type CgroupResources, NodeletError, throwIfAborted } from "@nodelet/core";
import { cgroupCall } from "../errors/cgroup-error.ts";
import { type CgroupLayout, findCgroupLayout } from "../layout/hierarchies.ts";
import { cgroupfsPath } from "../names/cgroup-names.ts";
import { childCgroups, isCgroup, readCgroupFile } from "./cgroup-files.ts";
import { destroyEverywhere } from "./destroy-cgroup.ts";
import { makeEverywhere, writeLimits } from "./ensure-cgroup.ts";

type Cancel = { readonly signal?: AbortSignal };

/** What a CgroupfsManager can do on this machine. */
export interface CgroupCapabilities {
  readonly version: 1 | 2;
  /** Limits of controllers that are not among them have no effect. */
  readonly controllers: readonly string[];
}

const DESTROY_TIMEOUT_MS = 5_000;

/**
 * Cgroups by the cgroup file system itself (the kubelet's driver `cgroupfs`), version 1 and 2. On version 1 a cgroup is made in every mounted
 * tree, the named one of systemd too, so that the runtime finds its parent in each.
 */
export class CgroupfsManager implements CgroupManager {
  readonly #layout: CgroupLayout;
  readonly #destroyTimeoutMs: number;

  constructor(options: { readonly layout: CgroupLayout; readonly destroyTimeoutMs?: number }) {
    this.#layout = options.layout;
    this.#destroyTimeoutMs = options.destroyTimeoutMs ?? DESTROY_TIMEOUT_MS;
  }

  /** Looks how cgroups are mounted on this machine. Throws `unsupported` when they are not. */
  static async discover(
    options: { readonly root?: string; readonly mountInfoPath?: string; readonly destroyTimeoutMs?: number } = {},
  ): Promise<CgroupfsManager> {
    const readControllers = async (path: string) =>
      (await readCgroupFile(`${path}/cgroup.controllers`))?.split(" ").filter((word) => word !== "") ?? [];
    const layout = await cgroupCall("cannot find the cgroups of this machine", () =>
      findCgroupLayout({ ...options, readControllers }),
    );
    return new CgroupfsManager({ ...options, layout });
  }

  get capabilities(): CgroupCapabilities {
    const { version, hierarchies } = this.#layout;
    return { version, controllers: hierarchies.flatMap(({ controllers }) => controllers).toSorted() };
  }

  parentFor(name: CgroupName): string {
    return cgroupfsPath(name);
  }

  async ensure(request: { readonly name: CgroupName; readonly resources: CgroupResources } & Cancel): Promise<void> {
    const path = this.#pathOf(request);
    await cgroupCall(`cannot make the cgroup ${path}`, () => makeEverywhere(this.#layout, path));
    throwIfAborted(request.signal, `writing the limits of the cgroup ${path}`);
    await cgroupCall(`cannot write the limits of the cgroup ${path}`, () =>
      writeLimits(this.#layout, path, request.resources),
    );
  }

  async destroy(request: { readonly name: CgroupName } & Cancel): Promise<void> {
    const path = this.#pathOf(request);
    await cgroupCall(`cannot remove the cgroup ${path}`, () =>
      destroyEverywhere(this.#layout, path, { timeoutMs: this.#destroyTimeoutMs, signal: request.signal }),
    );
  }

  /** True when it is in every tree: where one lacks it, `ensure` has work to do. */
  async exists(request: { readonly name: CgroupName } & Cancel): Promise<boolean> {
    throwIfAborted(request.signal, "looking for a cgroup");
    const path = cgroupfsPath(request.name);
    return cgroupCall(`cannot look for the cgroup ${path}`, async () => {
      for (const hierarchy of this.#layout.hierarchies) {
        if (!(await isCgroup(`${hierarchy.path}${path}`))) return false;
      }
      return true;
    });
  }

  /** Children in any tree: one that is left in a single tree is left nevertheless. */
  async children(request: { readonly name: CgroupName } & Cancel): Promise<readonly string[]> {
    throwIfAborted(request.signal, "listing cgroups");
    const path = cgroupfsPath(request.name);
    return cgroupCall(`cannot list the cgroup ${path}`, async () => {
      const names = await Promise.all(this.#layout.hierarchies.map(({ path: tree }) => childCgroups(`${tree}${path}`)));
      return [...new Set(names.flat())];
    });
  }

  #pathOf(request: { readonly name: CgroupName } & Cancel): string {
    if (request.name.length === 0) {
      throw new NodeletError("invalid", "the root cgroup is the machine's: it is neither made, changed nor removed");
    }
    const path = cgroupfsPath(request.name);
    throwIfAborted(request.signal, `changing the cgroup ${path}`);
    return path;
  }
}
