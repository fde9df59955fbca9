import type { DecisionLog } from "../decisions/decision-log.ts";
import { ImageManager } from "../images/index.ts";
import type { MachineInfo } from "../ports/machine.ts";
import { PlanExecutor } from "../runtime/execute/plan-executor.ts";
import { PodContent } from "../runtime/execute/pod-content.ts";
import { RequestBuilder } from "../runtime/execute/request-builder.ts";
import type { Observer } from "../runtime/observer.ts";
import { StatusManager } from "../status/index.ts";
import type { AgentOptions } from "./agent.ts";
import { Allocations } from "./allocations.ts";
import { BackOffState } from "./back-off-state.ts";
import { CrashBackOffs } from "./crash-back-offs.ts";
import { nodeFacts } from "./node-facts.ts";
import { Ownership } from "./ownership.ts";
import { PodCgroups } from "./pod-cgroups.ts";
import { AgentPodLifecycle } from "./pod-lifecycle.ts";
import type { PodWorker } from "./pod-worker.ts";
import { PodWorkers } from "./pod-workers.ts";
import type { RuntimeMonitor } from "./runtime-monitor.ts";
import { StartErrors } from "./start-errors.ts";

/** The parts of a running agent that know the machine. */
export interface AgentParts {
  readonly machine: MachineInfo;
  readonly statuses: StatusManager;
  readonly workers: PodWorkers;
  readonly content: PodContent;
  readonly ownership: Ownership;
  readonly podCgroups: PodCgroups;
  readonly backOffState: BackOffState;
  readonly images: ImageManager;
  readonly allocations: Allocations;
  readonly startErrors: StartErrors;
  readonly crashBackOffs: CrashBackOffs;
}

/** Builds the parts in the order in which they depend on one another. Nothing half-built is handed out. */
export function assembleParts(input: {
  readonly options: AgentOptions;
  readonly machine: MachineInfo;
  readonly stop: AbortSignal;
  readonly decisions: DecisionLog;
  readonly observer: Observer;
  readonly monitor: RuntimeMonitor;
  readonly onPodChange: (podUid: string) => void;
  readonly onFinished: (worker: PodWorker) => void;
  readonly onGone: (worker: PodWorker) => void;
}): AgentParts {
  const { options, machine, decisions, observer, monitor } = input;
  const { config, ports } = options;
  const podCgroups = new PodCgroups({ config, ports });
  const crashBackOffs = new CrashBackOffs({ config, ports, onChange: () => backOffState.touch() });
  const startErrors = new StartErrors();
  const allocations = new Allocations({ decisions });
  const ownership = new Ownership({ ports, decisions, takeOver: config.takeOver });
  const content = new PodContent({ config, ports });
  const images = new ImageManager({ config, ports, decisions });
  const backOffState = new BackOffState({
    ports,
    sections: {
      crash: { export: () => crashBackOffs.export(), restore: (state) => crashBackOffs.restore(state) },
      pull: { export: () => images.exportBackOff(), restore: (state) => images.restoreBackOff(state) },
    },
  });
  const statuses = new StatusManager({ ports: { ...ports, sink: ports.statusSink }, onChange: input.onPodChange });
  const requests = new RequestBuilder({
    config,
    ports,
    decisions,
    node: () => ({ config, machine, allocatable: nodeFacts({ config, machine, runtime: monitor.status }).allocatable }),
    cgroupParent: (pod) => podCgroups.parentOf(pod) ?? "",
  });
  const executor = new PlanExecutor({
    ports,
    runtimeRequestTimeoutMs: config.runtimeRequestTimeoutMs,
    images,
    requests,
    decisions,
    onStartResult: (uid, name, error) => {
      if (error === undefined) startErrors.clear(uid, name);
      else startErrors.set(uid, name, error);
      // A window that goes on is no news; a failure may have opened one.
      if (error !== undefined && !error.reason.endsWith("BackOff")) backOffState.touch();
    },
    onLateSandbox: (uid) => ownership.claimLate(uid),
    onRestart: (request) => crashBackOffs.restarting(request),
  });
  const lifecycle = new AgentPodLifecycle({
    config,
    ports,
    decisions,
    observer,
    monitor,
    statuses,
    executor,
    content,
    podCgroups,
    ownership,
    startErrors,
    allocations,
    crashBackOffs,
    nodeIps: () => machine.nodeIps,
  });
  const workers = new PodWorkers({
    lifecycle,
    ...ports,
    stop: input.stop,
    onFinished: input.onFinished,
    onGone: input.onGone,
  });
  return {
    machine,
    statuses,
    workers,
    content,
    ownership,
    podCgroups,
    backOffState,
    images,
    allocations,
    startErrors,
    crashBackOffs,
  };
}
