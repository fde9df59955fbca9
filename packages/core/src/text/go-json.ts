const UNSAFE = /[<>&\u2028\u2029]/g;

/** JSON text of a value as Go's `encoding/json` writes it: no spaces, and `<`, `>`, `&`, U+2028 and U+2029 escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The members of `source` in the order of `fields`, as Go writes a struct. A name that ends with `?` is left out when it is
 * absent, empty, zero or false (`omitempty`); the others are written even then.
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
