import type { VirtualClock } from "../clock/virtual-clock.ts";
import { wrapMethods } from "./wrap-methods.ts";

/**
 * A port whose calls move the virtual clock until they are answered, so that code that knows nothing of a clock, such as a contract suite, can
 * await them. `except` names calls that last, such as watches.
 */
export function drivenBy<T extends object>(
  port: T,
  options: { readonly clock: VirtualClock; readonly except?: readonly (keyof T & string)[] },
): T {
  const except: readonly string[] = options.except ?? [];
  return wrapMethods(port, (name, method) => {
    if (except.includes(name)) return method;
    return (...args) => {
      const answer = method(...args);
      return answer instanceof Promise ? options.clock.drive(answer) : answer;
    };
  });
}
