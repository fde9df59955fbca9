/**
 * The members of `source` in the order of `fields`, as Go's `encoding/json` writes a struct. A name that ends with `?` is left
 * out when it is absent, empty, zero or false (`omitempty`); the others are written even then.
 */
export function goStruct(source: object, fields: readonly string[]): Record<string, unknown> {
  const members = new Map<string, unknown>(Object.entries(source));
  const written: [string, unknown][] = [];
  for (const field of fields) {
    const name = field.endsWith("?") ? field.slice(0, -1) : field;
    const value = members.get(name);
    if (name === field || !isEmpty(value)) written.push([name, value ?? null]);
  }
  return Object.fromEntries(written);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}
