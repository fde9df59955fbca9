/** A method of a port, of whatever signature. */
export type AnyMethod = (...args: readonly unknown[]) => unknown;

/**
 * An object with the same members as `port`, where every method, inherited ones included, goes through `wrap`. Methods and other members are
 * read from the port each time, so that a test may exchange one later. The port itself is not changed, and calls that it makes on itself are not wrapped.
 */
export function wrapMethods<T extends object>(port: T, wrap: (name: string, method: AnyMethod) => AnyMethod): T {
  const wrapped = {};
  for (
    let level: object | null = port;
    level !== null && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (name === "constructor" || Object.hasOwn(wrapped, name)) continue;
      if (typeof property.value === "function") {
        const value = wrap(name, (...args) => Reflect.apply(Reflect.get(port, name) as AnyMethod, port, args));
        Object.defineProperty(wrapped, name, { value, enumerable: true });
      } else {
        const read = () => Reflect.get(port, name);
        const write = (next: unknown) => Reflect.set(port, name, next);
        Object.defineProperty(wrapped, name, { get: read, set: write, enumerable: true });
      }
    }
  }
  return wrapped as T;
}

/** The request of a call: its first argument when that is an object. */
export function requestOf(args: readonly unknown[]): object {
  const [first] = args;
  return typeof first === "object" && first !== null ? first : {};
}

/** The signal that a call was given. */
export function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const { signal } = requestOf(args) as { readonly signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
}
