/** A decoded configuration: objects, lists and plain values. Keys are data, whatever they are called. */
export type ConfigTree = Readonly<Record<string, unknown>>;

/** The value at a path with dots, or undefined. */
export function valueAt(tree: ConfigTree, path: string): unknown {
  let value: unknown = tree;
  for (const part of path.split(".")) {
    if (!isTree(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/**
 * Lays a patch over a tree as a JSON merge patch does (RFC 7386): objects are merged key by key, everything else is replaced, `nulls` (paths of
 * the patch that are null) are taken out.
 */
export function mergeTrees(
  tree: ConfigTree,
  patch: { readonly value: ConfigTree; readonly nulls: readonly (readonly string[])[] },
): ConfigTree {
  let merged = overlay(tree, patch.value);
  for (const path of patch.nulls) merged = without(merged, path);
  return merged;
}

function overlay(tree: ConfigTree, patch: ConfigTree): ConfigTree {
  const merged = new Map(Object.entries(tree));
  for (const [key, value] of Object.entries(patch)) {
    const earlier = merged.get(key);
    merged.set(key, isTree(value) && isTree(earlier) ? overlay(earlier, value) : value);
  }
  return Object.fromEntries(merged);
}

function without(tree: ConfigTree, path: readonly string[]): ConfigTree {
  const [first = "", ...rest] = path;
  const kept = new Map(Object.entries(tree));
  const inner = kept.get(first);
  if (rest.length === 0) kept.delete(first);
  else if (isTree(inner)) kept.set(first, without(inner, rest));
  return Object.fromEntries(kept);
}

function isTree(value: unknown): value is ConfigTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
