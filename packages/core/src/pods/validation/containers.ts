import { type Container, type ContainerPort, type EphemeralContainer, isSidecar, type Pod } from "../../api/index.ts";
import { type Place, validateEnv, validateEnvFrom } from "./env.ts";
import { dnsLabel, portName, portNumber } from "./formats.ts";
import { validateLifecycle, validateProbe } from "./handlers.ts";
import { validateVolumeDevices, validateVolumeMounts } from "./mounts.ts";
import { validateContainerResources } from "./resources.ts";
import { validateRestartRules } from "./restart-rules.ts";
import { validateContainerSecurity } from "./security.ts";

/** What the containers of one pod are checked against. */
export interface PodContext {
  readonly pod: Pod;
  readonly claimNames: ReadonlySet<string>;
  readonly graceSeconds: number;
}

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
/** What a container for debugging may not have: nothing may come to depend on it (KEP-277). */
const NOT_FOR_EPHEMERAL = [
  "ports",
  "lifecycle",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  ...PROBES,
] as const;

/** Regular, init and ephemeral containers of a pod. */
export function validateContainers(context: PodContext, { problems }: Pick<Place, "problems">): void {
  const { containers, initContainers = [], ephemeralContainers = [] } = context.pod.spec ?? { containers: [] };
  if (containers.length === 0) problems.required({ path: "spec.containers" });
  const names = new Set<string>();
  const unique = ({ name, path }: { readonly name: string; readonly path: string }): void => {
    if (name && names.has(name)) problems.duplicate({ path: `${path}.name`, value: name });
    names.add(name);
  };
  for (const [index, container] of containers.entries()) {
    const path = `spec.containers[${index}]`;
    validateCommon(container, { path, problems, context });
    unique({ name: container.name, path });
    validateHooksAndProbes(container, { path, problems, context });
    validateRestartRules(container, { path, problems, isInit: false });
  }
  validateHostPorts(containers, { path: "spec.containers", problems });
  for (const [index, container] of initContainers.entries()) {
    const path = `spec.initContainers[${index}]`;
    validateInit(container, { path, problems, context });
    unique({ name: container.name, path });
    // Init containers run one after the other: only ports of one container can clash.
    validateHostPorts([container], { path: "spec.initContainers", problems });
  }
  const targets = new Set(names);
  for (const [index, container] of ephemeralContainers.entries()) {
    const path = `spec.ephemeralContainers[${index}]`;
    validateCommon(container, { path, problems, context });
    unique({ name: container.name, path });
    validateEphemeral(container, { path, problems, targets });
  }
}

function validateCommon(
  container: Container | EphemeralContainer,
  place: Place & { readonly context: PodContext },
): void {
  const { path, problems, context } = place;
  if (!container.name) problems.required({ path: `${path}.name` });
  else problems.invalidAll({ path: `${path}.name`, value: container.name, details: dnsLabel(container.name) });
  if (!container.image) problems.required({ path: `${path}.image` });
  else if (container.image !== container.image.trim()) {
    problems.invalid({
      path: `${path}.image`,
      value: container.image,
      detail: "must not have leading or trailing whitespace",
    });
  }
  oneOf(container.terminationMessagePolicy, {
    path: `${path}.terminationMessagePolicy`,
    problems,
    words: MESSAGE_POLICIES,
  });
  validatePorts(container.ports ?? [], { path: `${path}.ports`, problems });
  validateEnv(container.env ?? [], { path: `${path}.env`, problems });
  validateEnvFrom(container.envFrom ?? [], { path: `${path}.envFrom`, problems });
  const volumes = context.pod.spec?.volumes ?? [];
  validateVolumeMounts(container, { path: `${path}.volumeMounts`, problems, volumes });
  validateVolumeDevices(container, { path: `${path}.volumeDevices`, problems, volumes });
  oneOf(container.imagePullPolicy, { path: `${path}.imagePullPolicy`, problems, words: PULL_POLICIES });
  validateContainerResources(container.resources ?? {}, {
    path: `${path}.resources`,
    problems,
    claimNames: context.claimNames,
  });
  validateResizePolicy(container, { path: `${path}.resizePolicy`, problems, context });
  validateContainerSecurity(container.securityContext, { path: `${path}.securityContext`, problems, pod: context.pod });
}

function validateInit(container: Container, place: Place & { readonly context: PodContext }): void {
  const { path, problems } = place;
  validateCommon(container, place);
  validateRestartRules(container, { path, problems, isInit: true });
  if (isSidecar(container)) {
    validateHooksAndProbes(container, place);
    return;
  }
  for (const field of ["lifecycle", ...PROBES] as const) {
    if (container[field] === undefined) continue;
    problems.forbidden({
      path: `${path}.${field}`,
      detail: "may not be set for init containers without restartPolicy=Always",
    });
  }
}

function validateHooksAndProbes(container: Container, place: Place & { readonly context: PodContext }): void {
  const { graceSeconds } = place.context;
  if (container.lifecycle !== undefined) {
    validateLifecycle(container.lifecycle, { ...place, path: `${place.path}.lifecycle`, graceSeconds });
  }
  for (const kind of PROBES) validateProbe(container[kind], { ...place, kind, graceSeconds });
}

function validateEphemeral(
  container: EphemeralContainer,
  place: Place & { readonly targets: ReadonlySet<string> },
): void {
  const { path, problems } = place;
  const target = container.targetContainerName;
  if (target && !place.targets.has(target)) problems.notFound({ path: `${path}.targetContainerName`, value: target });
  const detail = "cannot be set for an Ephemeral Container";
  for (const field of NOT_FOR_EPHEMERAL) {
    if (container[field] !== undefined) problems.forbidden({ path: `${path}.${field}`, detail });
  }
  const { requests = {}, limits = {}, claims = [] } = container.resources ?? {};
  if (Object.keys({ ...requests, ...limits }).length + claims.length > 0)
    problems.forbidden({ path: `${path}.resources`, detail });
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    for (const field of ["subPath", "subPathExpr"] as const) {
      if (mount[field]) problems.forbidden({ path: `${path}.volumeMounts[${index}].${field}`, detail });
    }
  }
}

function validatePorts(ports: readonly ContainerPort[], { path, problems }: Place): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const own = `${path}[${index}]`;
    if (port.name) {
      const details = portName(port.name);
      problems.invalidAll({ path: `${own}.name`, value: port.name, details });
      if (details.length === 0 && names.has(port.name)) problems.duplicate({ path: `${own}.name`, value: port.name });
      names.add(port.name);
    }
    if (!port.containerPort) problems.required({ path: `${own}.containerPort` });
    else
      problems.invalidAll({
        path: `${own}.containerPort`,
        value: port.containerPort,
        details: portNumber(port.containerPort),
      });
    if (port.hostPort)
      problems.invalidAll({ path: `${own}.hostPort`, value: port.hostPort, details: portNumber(port.hostPort) });
    oneOf(port.protocol, { path: `${own}.protocol`, problems, words: PROTOCOLS });
  }
}

function validateHostPorts(containers: readonly Container[], { path, problems }: Place): void {
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [portIndex, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue;
      const key = `${port.protocol}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (taken.has(key)) problems.duplicate({ path: `${path}[${index}].ports[${portIndex}].hostPort`, value: key });
      taken.add(key);
    }
  }
}

function validateResizePolicy(
  container: Container | EphemeralContainer,
  place: Place & { readonly context: PodContext },
): void {
  const { path, problems } = place;
  const seen = new Set<string>();
  for (const [index, policy] of (container.resizePolicy ?? []).entries()) {
    if (seen.has(policy.resourceName)) problems.duplicate({ path: `${path}[${index}]`, value: policy.resourceName });
    seen.add(policy.resourceName);
    oneOf(policy.resourceName, { path, problems, words: ["cpu", "memory"] });
    oneOf(policy.restartPolicy, { path, problems, words: ["NotRequired", "RestartContainer"] });
    if (place.context.pod.spec?.restartPolicy === "Never" && policy.restartPolicy !== "NotRequired") {
      problems.invalid({
        path,
        value: policy.restartPolicy,
        detail: "must be 'NotRequired' when `restartPolicy` is 'Never'",
      });
    }
  }
}

/** Missing words are required, unknown ones unsupported. */
export function oneOf(value: string | undefined, place: Place & { readonly words: readonly string[] }): void {
  if (!value) place.problems.required({ path: place.path });
  else if (!place.words.includes(value))
    place.problems.unsupported({ path: place.path, value, supported: place.words });
}
