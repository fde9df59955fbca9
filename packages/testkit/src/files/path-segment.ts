import { NodeletError } from "@nodelet/core";

/** Throws `invalid` for a value that cannot be the name of one directory entry: it would lead out of the directory. */
export function requireSegment(request: { readonly value: string; readonly what: string }): void {
  const { value, what } = request;
  if (
    value === "" ||
    value === "." ||
    value === ".." ||
    value.includes("/") ||
    value.includes("\0") ||
    value.length > 255
  ) {
    throw new NodeletError(
      "invalid",
      `${what} ${JSON.stringify(value.slice(0, 64))} cannot be a file name: expected one path segment of 1 to 255 characters`,
    );
  }
}
