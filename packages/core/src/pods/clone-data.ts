/** A deep copy of JSON-like data. Members keep their order; a member named `__proto__` stays plain data. */
export function cloneData<T>(value: T): T {
  return clone(value) as T;
}

function clone(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clone(member)]));
}
