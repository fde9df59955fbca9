import type { Pod, PodDNSConfig, PodSpec } from "../../api/index.ts";
import { validateAffinity, validateTolerations } from "./affinity.ts";
import { oneOf, validateContainers } from "./containers.ts";
import type { Place } from "./env.ts";
import { dnsLabel, dnsSearchDomain, dnsSubdomain, ipAddress, qualifiedName } from "./formats.ts";
import { validateLabels } from "./metadata.ts";
import { validatePodResources, validateResourceList } from "./resources.ts";
import { validatePodSecurity } from "./security.ts";
import { validateVolumes } from "./volumes.ts";

const MAX_INT32 = 2 ** 31 - 1;
const MAX_NAMESERVERS = 3;
const MAX_SEARCH_DOMAINS = 32;
const MAX_SEARCH_LENGTH = 2048;
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const RESTART_POLICIES = ["Always", "OnFailure", "Never"];

type ProblemList = Place["problems"];

/** The whole spec of a pod to which defaults were applied. */
export function validatePodSpec(pod: Pod, problems: ProblemList): void {
  const spec: PodSpec = pod.spec ?? { containers: [] };
  const claimNames = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  validateVolumes(spec.volumes ?? [], problems);
  validateClaims(spec, problems);
  validateContainers({ pod, claimNames, graceSeconds: Number(spec.terminationGracePeriodSeconds ?? 0) }, { problems });
  validatePodResources(pod, problems);
  validateHostNetworkPorts(spec, problems);
  oneOf(spec.restartPolicy, { path: "spec.restartPolicy", problems, words: RESTART_POLICIES });
  oneOf(spec.dnsPolicy, { path: "spec.dnsPolicy", problems, words: DNS_POLICIES });
  validateLabels({ path: "spec.nodeSelector", labels: spec.nodeSelector ?? {} }, problems);
  validatePodSecurity(pod, { problems });
  validateAffinity(pod, problems);
  validateDns(spec, problems);
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    const path = `spec.readinessGates[${index}].conditionType`;
    problems.invalidAll({ path, value: gate.conditionType, details: qualifiedName(gate.conditionType) });
  }
  validateTolerations(spec.tolerations ?? [], problems);
  validateHostAliases(spec, problems);
  validateNames(spec, problems);
  validateTimes(spec, problems);
  if (spec.overhead !== undefined) validateResourceList(spec.overhead, { path: "spec.overhead", problems });
  if (spec.preemptionPolicy !== undefined) {
    oneOf(spec.preemptionPolicy, { path: "spec.preemptionPolicy", problems, words: ["PreemptLowerPriority", "Never"] });
  }
  validateOs(spec, problems);
  validateTokens(spec, problems);
}

function validateClaims(spec: PodSpec, problems: ProblemList): void {
  const names = new Set<string>();
  for (const [index, claim] of (spec.resourceClaims ?? []).entries()) {
    const path = `spec.resourceClaims[${index}]`;
    if (!claim.name) problems.required({ path: `${path}.name` });
    else if (names.has(claim.name)) problems.duplicate({ path: `${path}.name`, value: claim.name });
    else problems.invalidAll({ path: `${path}.name`, value: claim.name, details: dnsLabel(claim.name) });
    names.add(claim.name);
    const sources = [claim.resourceClaimName, claim.resourceClaimTemplateName].filter(
      (source) => source !== undefined,
    ).length;
    if (sources !== 1) {
      const detail =
        sources === 0
          ? "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
          : "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      problems.invalid({ path, value: claim, detail });
    }
  }
}

function validateHostNetworkPorts(spec: PodSpec, problems: ProblemList): void {
  if (spec.hostNetwork !== true) return;
  for (const [index, container] of spec.containers.entries()) {
    for (const [portIndex, port] of (container.ports ?? []).entries()) {
      if (port.hostPort === port.containerPort) continue;
      const path = `spec.containers[${index}].ports[${portIndex}].hostPort`;
      problems.invalid({ path, value: port.hostPort, detail: "must match `containerPort` when `hostNetwork` is true" });
    }
  }
}

function validateDns(spec: PodSpec, problems: ProblemList): void {
  const config: PodDNSConfig | undefined = spec.dnsConfig;
  const path = "spec.dnsConfig";
  if (spec.dnsPolicy === "None" && config === undefined) {
    problems.required({ path, detail: "must provide `dnsConfig` when `dnsPolicy` is None" });
  }
  if (config === undefined) return;
  const { nameservers = [], searches = [], options = [] } = config;
  if (spec.dnsPolicy === "None" && nameservers.length === 0) {
    const detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    problems.required({ path: `${path}.nameservers`, detail });
  }
  if (nameservers.length > MAX_NAMESERVERS) {
    problems.invalid({
      path: `${path}.nameservers`,
      value: nameservers,
      detail: `must not have more than ${MAX_NAMESERVERS} nameservers`,
    });
  }
  for (const [index, server] of nameservers.entries()) {
    problems.invalidAll({ path: `${path}.nameservers[${index}]`, value: server, details: ipAddress(server) });
  }
  if (searches.length > MAX_SEARCH_DOMAINS) {
    problems.invalid({
      path: `${path}.searches`,
      value: searches,
      detail: `must not have more than ${MAX_SEARCH_DOMAINS} search paths`,
    });
  }
  if (searches.join(" ").length > MAX_SEARCH_LENGTH) {
    const detail = `must not have more than ${MAX_SEARCH_LENGTH} characters (including spaces) in the search list`;
    problems.invalid({ path: `${path}.searches`, value: searches, detail });
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const value = search.replace(/\.$/, "");
    problems.invalidAll({ path: `${path}.searches[${index}]`, value, details: dnsSearchDomain(value) });
  }
  for (const [index, option] of options.entries()) {
    if (!option.name) problems.required({ path: `${path}.options[${index}]`, detail: "must not be empty" });
  }
}

function validateHostAliases(spec: PodSpec, problems: ProblemList): void {
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const path = `spec.hostAliases[${index}]`;
    problems.invalidAll({ path: `${path}.ip`, value: alias.ip, details: ipAddress(alias.ip) });
    for (const [nameIndex, name] of (alias.hostnames ?? []).entries()) {
      problems.invalidAll({ path: `${path}.hostnames[${nameIndex}]`, value: name, details: dnsSubdomain(name) });
    }
  }
}

function validateNames(spec: PodSpec, problems: ProblemList): void {
  for (const field of ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"] as const) {
    const value = spec[field];
    if (value) problems.invalidAll({ path: `spec.${field}`, value, details: dnsSubdomain(value) });
  }
  for (const field of ["hostname", "subdomain"] as const) {
    const value = spec[field];
    if (value) problems.invalidAll({ path: `spec.${field}`, value, details: dnsLabel(value) });
  }
  if (spec.hostnameOverride) {
    const value = spec.hostnameOverride;
    const path = "spec.hostnameOverride";
    if (value.length > 64) problems.invalid({ path, value, detail: "must be no more than 64 characters" });
    problems.invalidAll({ path, value, details: dnsSubdomain(value) });
    if (spec.hostNetwork === true)
      problems.invalid({ path, value, detail: "may not be specified when hostNetwork is true" });
    if (spec.setHostnameAsFQDN === true)
      problems.invalid({ path, value, detail: "may not be specified when setHostnameAsFQDN is true" });
  }
}

function validateTimes(spec: PodSpec, problems: ProblemList): void {
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    const detail = `must be between 1 and ${MAX_INT32}, inclusive`;
    problems.invalid({ path: "spec.activeDeadlineSeconds", value: deadline, detail });
  }
  if (spec.terminationGracePeriodSeconds === undefined)
    problems.required({ path: "spec.terminationGracePeriodSeconds" });
}

function validateOs(spec: PodSpec, problems: ProblemList): void {
  if (spec.os === undefined) return;
  oneOf(spec.os.name, { path: "spec.os.name", problems, words: ["linux", "windows"] });
  if (spec.os.name !== "linux") return;
  const detail = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions !== undefined) {
    problems.forbidden({ path: "spec.securityContext.windowsOptions", detail });
  }
  for (const list of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if (container.securityContext?.windowsOptions === undefined) continue;
      problems.forbidden({ path: `spec.${list}[${index}].securityContext.windowsOptions`, detail });
    }
  }
}

/** A token belongs to a service account. */
function validateTokens(spec: PodSpec, problems: ProblemList): void {
  if (spec.serviceAccountName) return;
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const [sourceIndex, source] of (volume.projected?.sources ?? []).entries()) {
      if (source.serviceAccountToken === undefined) continue;
      const path = `spec.volumes[${index}].projected.sources[${sourceIndex}].serviceAccountToken`;
      problems.forbidden({ path, detail: "must not be specified when serviceAccountName is not set" });
    }
  }
}
