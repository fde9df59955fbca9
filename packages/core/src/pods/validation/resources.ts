import {
  Amount,
  isPodLevelResource,
  type Pod,
  podRequests,
  type Quantity,
  type ResourceRequirements,
} from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { qualifiedName } from "./formats.ts";
import type { Problems } from "./problems.ts";

/** Resources that Kubernetes itself knows in a container. */
const STANDARD = new Set(["cpu", "memory", "ephemeral-storage"]);

interface Place {
  readonly path: string;
  readonly problems: Problems;
  /** Names of spec.resourceClaims. */
  readonly claimNames?: ReadonlySet<string>;
}

/** Requests and limits of a container: known names, amounts that are none below zero, requests within limits. */
export function validateContainerResources(resources: ResourceRequirements, place: Place): void {
  validateRequirements(resources, { ...place, checkName: checkContainerName });
  const seen = new Set<string>();
  for (const [index, claim] of (resources.claims ?? []).entries()) {
    const path = `${place.path}.claims[${index}]`;
    if (!claim.name) place.problems.required({ path: `${path}.name` });
    else if (seen.has(claim.name)) place.problems.duplicate({ path: `${path}.name`, value: claim.name });
    else if (place.claimNames?.has(claim.name) !== true)
      place.problems.notFound({ path: `${path}.name`, value: claim.name });
    if (claim.name) seen.add(claim.name);
  }
}

/** Pod-level resources (KEP-2837): only cpu, memory and huge pages, and never less than the containers ask for together. */
export function validatePodResources(pod: Pod, problems: Problems): void {
  const resources = pod.spec?.resources;
  if (resources === undefined) return;
  const path = "spec.resources";
  if (resources.claims !== undefined) {
    problems.forbidden({ path: `${path}.claims`, detail: "claims cannot be set for Resources at pod-level" });
  }
  validateRequirements(resources, { path, problems, checkName: checkPodName });
  const asked = amountsOrNothing(() => podRequests(pod, { skipPodLevel: true, excludeOverhead: true }));
  for (const [name, amount] of asked) {
    if (!isPodLevelResource(name)) continue;
    const own = parse(resources.requests?.[name] ?? "0");
    if (own !== undefined && amount.compare(own) > 0) {
      const detail = `must be greater than or equal to aggregate container requests of ${amount.toString()}`;
      problems.invalid({ path: `${path}.requests[${name}]`, value: own.toString(), detail });
    }
  }
  validateLimitsOfContainers(pod, problems);
}

function validateLimitsOfContainers(pod: Pod, problems: Problems): void {
  for (const [index, container] of (pod.spec?.containers ?? []).entries()) {
    for (const [name, quantity] of Object.entries(container.resources?.limits ?? {})) {
      const limit = parse(quantity);
      const own = parse(pod.spec?.resources?.limits?.[name] ?? "");
      if (limit !== undefined && own !== undefined && limit.compare(own) > 0) {
        const path = `spec.resources.containers[${index}][${name}].limits`;
        problems.invalid({
          path,
          value: limit.toString(),
          detail: `must be less than or equal to pod limits of ${own.toString()}`,
        });
      }
    }
  }
}

/** A plain list of amounts, such as spec.overhead. */
export function validateResourceList(list: Readonly<Record<string, Quantity>>, place: Place): void {
  for (const [name, quantity] of Object.entries(list))
    validateEntry({ name, quantity }, { ...place, checkName: checkContainerName });
}

type NameCheck = (entry: { readonly name: string; readonly path: string; readonly problems: Problems }) => void;

function validateRequirements(resources: ResourceRequirements, place: Place & { readonly checkName: NameCheck }): void {
  const { limits = {}, requests = {} } = resources;
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  for (const [name, quantity] of Object.entries(limits))
    validateEntry({ name, quantity }, { ...place, path: `${place.path}.limits` });
  for (const [name, quantity] of Object.entries(requests)) {
    validateEntry({ name, quantity }, { ...place, path: `${place.path}.requests` });
    validateAgainstLimit({ name, quantity, limit: limits[name] }, place);
  }
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    place.problems.forbidden({ path: place.path, detail: "HugePages require cpu or memory" });
  }
}

function validateEntry(
  entry: { readonly name: string; readonly quantity: Quantity },
  place: Place & { readonly checkName: NameCheck },
): void {
  const { problems } = place;
  const path = `${place.path}[${entry.name}]`;
  const details = qualifiedName(entry.name);
  problems.invalidAll({ path, value: entry.name, details });
  if (details.length === 0) place.checkName({ name: entry.name, path, problems });
  const amount = parse(entry.quantity);
  if (amount === undefined) {
    problems.invalid({ path, value: entry.quantity, detail: "must be a quantity, for example 100m, 1.5 or 64Mi" });
  } else if (amount.sign < 0) {
    problems.invalid({ path, value: amount.toString(), detail: "must be greater than or equal to 0" });
  } else if (isExtended(entry.name) && amount.milliValue() % 1000n !== 0n) {
    problems.invalid({ path, value: amount.toString(), detail: "must be an integer" });
  }
}

function validateAgainstLimit(
  entry: { readonly name: string; readonly quantity: Quantity; readonly limit: Quantity | undefined },
  place: Place,
): void {
  const path = `${place.path}.requests`;
  if (entry.limit === undefined) {
    if (mayOvercommit(entry.name)) return;
    place.problems.required({
      path: `${place.path}.limits`,
      detail: "Limit must be set for non overcommitable resources",
    });
    return;
  }
  const request = parse(entry.quantity);
  const limit = parse(entry.limit);
  if (request === undefined || limit === undefined) return;
  if (!mayOvercommit(entry.name) && request.compare(limit) !== 0) {
    place.problems.invalid({
      path,
      value: request.toString(),
      detail: `must be equal to ${entry.name} limit of ${limit.toString()}`,
    });
  } else if (request.compare(limit) > 0) {
    place.problems.invalid({
      path,
      value: request.toString(),
      detail: `must be less than or equal to ${entry.name} limit of ${limit.toString()}`,
    });
  }
}

const checkContainerName: NameCheck = ({ name, path, problems }) => {
  if (!name.includes("/")) {
    const known = STANDARD.has(name) || isHugePages(name);
    if (!known) problems.invalid({ path, value: name, detail: "must be a standard resource for containers" });
  } else if (name.startsWith("requests.")) {
    problems.invalid({ path, value: name, detail: "doesn't follow extended resource name standard" });
  }
};

const checkPodName: NameCheck = ({ name, path, problems }) => {
  if (!isPodLevelResource(name))
    problems.unsupported({ path, value: name, supported: ["cpu", "hugepages-", "memory"] });
};

/** Only cpu, memory and local storage may be promised more than once. */
function mayOvercommit(name: string): boolean {
  return !name.includes("/") && !isHugePages(name);
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/");
}

function parse(quantity: Quantity): Amount | undefined {
  try {
    return Amount.parse(quantity);
  } catch (error) {
    if (NodeletError.is(error)) return undefined;
    throw error;
  }
}

/** Quantities that are none are told by the check of the container. */
function amountsOrNothing(compute: () => ReadonlyMap<string, Amount>): ReadonlyMap<string, Amount> {
  try {
    return compute();
  } catch (error) {
    if (NodeletError.is(error)) return new Map();
    throw error;
  }
}
