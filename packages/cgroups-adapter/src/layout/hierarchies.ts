import { NodeletError } from "@nodelet/core";
import { type MountEntry, readMounts } from "@nodelet/lib-safe-fs";

/** One mounted tree of cgroups. */
export interface CgroupHierarchy {
  /** Where it is mounted. */
  readonly path: string;
  /**
   * Version 1: the controllers of this tree (`cpu`, `cpuacct`), or `name=systemd`; none for the version 2 tree of the hybrid layout. Version 2: the
   * ones that its root offers.
   */
  readonly controllers: readonly string[];
}

/** How cgroups are mounted. Version 1 has a tree for each set of controllers, version 2 one for all. */
export interface CgroupLayout {
  readonly version: 1 | 2;
  readonly hierarchies: readonly CgroupHierarchy[];
}

const V1_MOUNT_FLAGS = new Set(["rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "favordynmods"]);

/**
 * Finds how cgroups are mounted. A cgroup2 mount at `root` itself means version 2; otherwise the version 1 trees below `root`. In the hybrid layout
 * the version 2 tree at `root`/unified is one more of them, although it has no controllers that are needed here: runc puts containers there, too,
 * below their parent, which would stay for ever if it were not ours to remove. Throws `unsupported` when there is neither.
 */
export async function findCgroupLayout(options: {
  /** /sys/fs/cgroup unless given. */
  readonly root?: string;
  readonly mountInfoPath?: string;
  readonly readControllers: (path: string) => Promise<readonly string[]>;
}): Promise<CgroupLayout> {
  const { root = "/sys/fs/cgroup", mountInfoPath = "/proc/self/mountinfo" } = options;
  const mounts = await readMounts(mountInfoPath);
  // Later mounts cover earlier ones of the same place.
  if (mounts.findLast((mount) => mount.mountPoint === root)?.fsType === "cgroup2") {
    return { version: 2, hierarchies: [{ path: root, controllers: await options.readControllers(root) }] };
  }
  const trees = mounts.filter((mount) => mount.fsType === "cgroup" && mount.mountPoint.startsWith(`${root}/`));
  const hierarchies = [...firstOfEach(trees).values()];
  const unified = `${root}/unified`;
  const isHybrid = mounts.findLast((mount) => mount.mountPoint === unified)?.fsType === "cgroup2";
  if (hierarchies.length > 0 && isHybrid) hierarchies.push({ path: unified, controllers: [] });
  if (hierarchies.length > 0) return { version: 1, hierarchies };
  throw new NodeletError(
    "unsupported",
    `no cgroups are mounted at ${root}: mount cgroup2 there, or the version 1 controllers below it (a container needs them from its host)`,
  );
}

/** One tree may be mounted at several places; its controllers tell it. */
function firstOfEach(trees: readonly MountEntry[]): Map<string, CgroupHierarchy> {
  const found = new Map<string, CgroupHierarchy>();
  for (const { mountPoint, superOptions } of trees) {
    const controllers = superOptions.filter(
      (option) => !V1_MOUNT_FLAGS.has(option) && !option.startsWith("release_agent="),
    );
    const key = controllers.toSorted().join(",");
    if (controllers.length > 0 && !found.has(key)) found.set(key, { path: mountPoint, controllers });
  }
  return found;
}
