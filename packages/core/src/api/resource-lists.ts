import { NodeletError } from "../errors/index.ts";
import type { Quantity } from "./gen/scalars.ts";
import { Amount } from "./quantity.ts";

/** Amounts by resource name (`cpu`, `memory`, `hugepages-2Mi`, `example.com/gpu`). */
export type ResourceAmounts = ReadonlyMap<string, Amount>;

/**
 * Parses a ResourceList. Throws `invalid` that names the resource. A missing list is an empty one.
 */
export function parseResourceList(list: { readonly [name: string]: Quantity } | undefined): ResourceAmounts {
  const amounts = new Map<string, Amount>();
  for (const [name, quantity] of Object.entries(list ?? {})) {
    try {
      amounts.set(name, Amount.parse(quantity));
    } catch (error) {
      throw new NodeletError("invalid", `${name}: ${NodeletError.from(error).message}`, { cause: error });
    }
  }
  return amounts;
}

/** A ResourceList in canonical quantities, sorted by name as Kubernetes writes maps. */
export function formatResourceList(amounts: ResourceAmounts): { [name: string]: Quantity } {
  return Object.fromEntries(
    [...amounts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, amount.toString()]),
  );
}

/** Sum per resource, in the order of first appearance. */
export function sumResources(lists: Iterable<ResourceAmounts>): Map<string, Amount> {
  return combine(lists, (sum, amount) => sum.plus(amount));
}

/** Maximum per resource, in the order of first appearance. */
export function maxResources(lists: Iterable<ResourceAmounts>): Map<string, Amount> {
  return combine(lists, (largest, amount) => largest.max(amount));
}

function combine(
  lists: Iterable<ResourceAmounts>,
  join: (earlier: Amount, next: Amount) => Amount,
): Map<string, Amount> {
  const result = new Map<string, Amount>();
  for (const list of lists) {
    for (const [name, amount] of list) {
      const earlier = result.get(name);
      result.set(name, earlier === undefined ? amount : join(earlier, amount));
    }
  }
  return result;
}
