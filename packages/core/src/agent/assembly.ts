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
import { Removals } from "./removals.ts";
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
  readonly removals: Removals;
}

interface AssemblyInput {
  readonly options: AgentOptions;
  readonly machine: MachineInfo;
  readonly stop: AbortSignal;
  readonly decisions: DecisionLog;
  readonly observer: Observer;
  readonly monitor: RuntimeMonitor;
  readonly onPodChange: (podUid: string) => void;
  readonly onFinished: (worker: PodWorker) => void;
  readonly onGone: (worker: PodWorker) => void;
  readonly onPulled: (podUid: string) => void;
}

/** Builds the parts in the order in which they depend on one another. Nothing half-built is handed out. */
export function assembleParts(input: AssemblyInput): AgentParts {
  const { options, machine, stop, decisions, observer, monitor, onFinished, onGone } = input;
  const { config, ports } = options;
  const ledgers = makeLedgers(input);
  const executor = makeExecutor(input, ledgers);
  const nodeIps = (): readonly string[] => machine.nodeIps;
  const lifecycle = new AgentPodLifecycle({
    ...ledgers,
    config,
    ports,
    decisions,
    observer,
    monitor,
    executor,
    nodeIps,
  });
  const workers = new PodWorkers({ lifecycle, ...ports, stop, onFinished, onGone });
  return { ...ledgers, workers };
}

/** The parts that remember something of pods, and know nothing of workers. */
type Ledgers = Omit<AgentParts, "workers">;

function makeLedgers({ options, machine, decisions, onPodChange, onPulled }: AssemblyInput): Ledgers {
  const { config, ports } = options;
  const crashBackOffs = new CrashBackOffs({ config, ports, onChange: () => backOffState.touch() });
  const images = new ImageManager({ config, ports, decisions, onPulled });
  const backOffState = new BackOffState({
    ports,
    sections: {
      crash: { export: () => crashBackOffs.export(), restore: (state) => crashBackOffs.restore(state) },
      pull: { export: () => images.exportBackOff(), restore: (state) => images.restoreBackOff(state) },
    },
  });
  return {
    machine,
    crashBackOffs,
    images,
    backOffState,
    podCgroups: new PodCgroups({ config, ports }),
    removals: new Removals(),
    startErrors: new StartErrors(),
    allocations: new Allocations({ decisions }),
    ownership: new Ownership({ ports, decisions, takeOver: config.takeOver }),
    content: new PodContent({ config, ports }),
    statuses: new StatusManager({ ports: { ...ports, sink: ports.statusSink }, onChange: onPodChange }),
  };
}

function makeExecutor(input: AssemblyInput, ledgers: Ledgers): PlanExecutor {
  const { options, machine, decisions, monitor, observer } = input;
  const { config, ports } = options;
  const { images, startErrors, backOffState, ownership, crashBackOffs, podCgroups } = ledgers;
  const requests = new RequestBuilder({
    config,
    ports,
    decisions,
    node: () => ({ config, machine, allocatable: nodeFacts({ config, machine, runtime: monitor.status }).allocatable }),
    cgroupParent: (pod) => podCgroups.parentOf(pod) ?? "",
  });
  return new PlanExecutor({
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
    onSandbox: (uid, status) => observer.learnSandbox(uid, status),
    onLateSandbox: (uid) => ownership.claimLate(uid),
    onRestart: (request) => crashBackOffs.restarting(request),
  });
}
