/** File system work on hostile trees: no links followed, bounded reads, atomic writes, removal that stays on one mount. */
export {
  isAbsent,
  openRegularPath,
  readAt,
  readFileBounded,
  readHandleBounded,
  readPathBounded,
  readTail,
  removeTemporaries,
  temporaryName,
  writeFileAtomic,
} from "./files.ts";
export { makeDirectories } from "./make-directories.ts";
export { type MountEntry, mountsAtOrBelow, parseMountInfo, readMounts, readMountsAtOrBelow } from "./mounts.ts";
export { assertPlainName, isPlainName, partsBelow } from "./names.ts";
export { type RemoveTreeOptions, removeTree } from "./remove-tree.ts";
export { SafeDirectory, type SafeDirectoryOptions, withDirectory } from "./safe-directory.ts";
export { errnoOf, type PathProblem, printablePath, UnsafePathError } from "./unsafe-path-error.ts";
