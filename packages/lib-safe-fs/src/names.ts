import { UnsafePathError } from "./unsafe-path-error.ts";

const MAX_NAME_BYTES = 255;

/** True when `name` is one plain file name: it cannot leave the directory that it is used in. */
export function isPlainName(name: string): boolean {
  return (
    name !== "" &&
    name !== "." &&
    name !== ".." &&
    !name.includes("/") &&
    !name.includes("\0") &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES
  );
}

/** Throws `badName` unless `isPlainName`. Returns the name, for use in place. */
export function assertPlainName(name: string, directory: string): string {
  if (!isPlainName(name)) {
    throw new UnsafePathError("badName", `${directory}/${name}`, "the last part is not one plain file name");
  }
  return name;
}

/**
 * The parts of `path` below `root`, both absolute. Purely textual: nothing is looked up, `.` and empty parts are refused as `..` is, since a
 * path that names something of ours never has them. Throws `outside` or `badName`.
 */
export function partsBelow(options: { readonly root: string; readonly path: string }): readonly string[] {
  const root = options.root.replace(/\/+$/, "");
  if (!options.path.startsWith(`${root}/`)) {
    throw new UnsafePathError("outside", options.path, `does not lie under ${root || "/"}`);
  }
  const parts = options.path.slice(root.length + 1).split("/");
  for (const [index, part] of parts.entries()) {
    assertPlainName(part, [root, ...parts.slice(0, index)].join("/"));
  }
  return parts;
}
