import {
  Amount,
  type Container,
  type EphemeralContainer,
  type Pod,
  parseResourceList,
  podLevel,
  type Quantity,
  type ResourceAmounts,
  type ResourceFieldSelector,
} from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";

const DEFAULTED: readonly string[] = ["cpu", "memory", "ephemeral-storage"];

/**
 * Value of a container's request or limit for an environment variable, in units of the divisor, rounded up. A limit that is not
 * set is the pod's own limit, else what the node can allocate. Throws `invalid` with the kubelet's text for resources and containers that it
 * does not know.
 */
export function resourceValue(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly selector: ResourceFieldSelector;
  readonly allocatable: { readonly [resource: string]: Quantity };
}): string {
  const { selector } = options;
  const container = namedContainer(options);
  const [kind, resource] = splitResource(selector.resource);
  if (kind === undefined) throw new NodeletError("invalid", `unsupported container resource : ${selector.resource}`);
  const amount =
    kind === "requests"
      ? parseResourceList(container.resources?.requests).get(resource)
      : limitWithDefault({ pod: options.pod, container, resource, allocatable: options.allocatable });
  const divisor = selector.divisor === undefined ? Amount.zero : Amount.parse(selector.divisor);
  return dividedUp({ amount: amount ?? Amount.zero, divisor: divisor.isZero ? Amount.of(1) : divisor, resource });
}

function namedContainer(options: Parameters<typeof resourceValue>[0]): Container | EphemeralContainer {
  const name = options.selector.containerName ?? "";
  if (name === "" || name === options.container.name) return options.container;
  const all = [...(options.pod.spec?.containers ?? []), ...(options.pod.spec?.initContainers ?? [])];
  const found = all.find((container) => container.name === name);
  if (found === undefined) throw new NodeletError("invalid", `container ${name} not found`);
  return found;
}

function splitResource(path: string): ["limits" | "requests" | undefined, string] {
  const dot = path.indexOf(".");
  const kind = path.slice(0, dot);
  const resource = path.slice(dot + 1);
  const known = DEFAULTED.includes(resource) || resource.startsWith("hugepages-");
  return [known && (kind === "limits" || kind === "requests") ? kind : undefined, resource];
}

function limitWithDefault(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly resource: string;
  readonly allocatable: { readonly [resource: string]: Quantity };
}): Amount | undefined {
  const { resource } = options;
  const own = parseResourceList(options.container.resources?.limits).get(resource);
  if ((own !== undefined && !own.isZero) || !DEFAULTED.includes(resource)) return own;
  const allocatable: ResourceAmounts = parseResourceList(options.allocatable);
  const ofPod = podLevel(options.pod, "limits").get(resource);
  if (ofPod !== undefined && !ofPod.isZero && allocatable.has(resource)) return ofPod;
  return allocatable.get(resource);
}

/** CPU counts in thousandths, all else in whole units, before the division. */
function dividedUp(options: { readonly amount: Amount; readonly divisor: Amount; readonly resource: string }): string {
  const inMilli = options.resource === "cpu";
  const amount = inMilli ? options.amount.milliValue() : options.amount.value();
  const divisor = inMilli ? options.divisor.milliValue() : options.divisor.value();
  return String((amount + divisor - 1n) / divisor);
}
