import type { Container, EnvVar, EphemeralContainer, Lifecycle, Pod, PodSpec, Probe } from "../api/index.ts";
import { cloneData } from "./clone-data.ts";
import { pullPolicyFor } from "./pull-policy.ts";
import { defaultContainerResources, defaultPodResources, roundResourceList } from "./resource-defaults.ts";
import { defaultVolume } from "./volume-defaults.ts";

/**
 * The pod as the API server would store it: every default of core/v1 filled in, requests taken from limits, quantities in canonical form.
 * Idempotent; the input is left alone. What admission plug-ins add in a cluster (service account, priority, tolerations) is not part of it.
 * Quantities that cannot be parsed stay as they are, for validation to name.
 */
export function defaultPod(input: Pod): Pod {
  const pod = cloneData(input);
  pod.apiVersion = "v1";
  pod.kind = "Pod";
  pod.metadata ??= {};
  pod.spec ??= { containers: [] };
  pod.spec.containers ??= [];
  defaultSpec(pod.spec);
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    defaultContainer(container);
    container.resources = defaultContainerResources(container.resources ?? {});
    if (pod.spec.hostNetwork === true) defaultHostPorts(container);
  }
  for (const container of pod.spec.ephemeralContainers ?? []) defaultContainer(container);
  for (const volume of pod.spec.volumes ?? []) defaultVolume(volume);
  if (pod.spec.overhead !== undefined) pod.spec.overhead = roundResourceList(pod.spec.overhead);
  defaultPodResources(pod);
  return pod;
}

/** The container as the API server would store it in `spec.ephemeralContainers`. */
export function defaultEphemeralContainer(input: EphemeralContainer): EphemeralContainer {
  const container = cloneData(input);
  defaultContainer(container);
  return container;
}

function defaultSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= "ClusterFirst";
  spec.restartPolicy ||= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ||= "default-scheduler";
  spec.enableServiceLinks ??= true;
  // Two names of one field; both are shown.
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
}

function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ||= pullPolicyFor(container.image);
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  container.resources ??= {};
  for (const port of container.ports ?? []) port.protocol ||= "TCP";
  for (const variable of container.env ?? []) defaultVariable(variable);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe !== undefined) defaultProbe(probe);
  }
  defaultLifecycle(container.lifecycle ?? {});
}

function defaultVariable(variable: EnvVar): void {
  if (variable.valueFrom?.fieldRef !== undefined) variable.valueFrom.fieldRef.apiVersion ||= "v1";
  const divisor = variable.valueFrom?.resourceFieldRef;
  if (divisor !== undefined) divisor.divisor ||= "0";
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.httpGet !== undefined) defaultHttpGet(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= "";
}

function defaultLifecycle(lifecycle: Lifecycle): void {
  for (const handler of [lifecycle.postStart, lifecycle.preStop]) {
    if (handler?.httpGet !== undefined) defaultHttpGet(handler.httpGet);
  }
}

function defaultHttpGet(action: { path?: string; scheme?: string }): void {
  action.path ||= "/";
  action.scheme ||= "HTTP";
}

/** In the host's network every container port is a port of the host. */
function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
}
