import type { StartupResult } from "./run-startup.ts";
import { median, type Sample } from "./samples.ts";
import type { Behaviour } from "./workload.ts";

/** One line of the report. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: "x the floor" | "% of a core" | "MB" | "ms";
  /** What it should stay under; undefined for what is only told. */
  readonly goal: number | undefined;
  readonly met: boolean | undefined;
}

/** The goals: start within 1.2x of the floor, removal no slower than the floor's, idle under 3 %, 80 and 100 MB, healthy in 500 ms. */
const GOALS = {
  start: 1.2,
  remove: 1,
  idlePercent: 3,
  idleMegabytes: 80,
  runningMegabytes: 100,
  healthyMs: 500,
} as const;
/** The number of pods that the goals for an idle node speak of. */
const GOAL_PODS = 90;

/** Medians over the rounds, as ratios of agent to floor where there is a floor. */
export function figuresOf({ samples, idle }: StartupResult): readonly Figure[] {
  const figures: Figure[] = [];
  const counts = [...new Set(samples.map((sample) => sample.pods))];
  const behaviours = [...new Set(samples.map((sample) => sample.behaviour))];
  for (const pods of counts) {
    const some = samples.filter((sample) => sample.pods === pods);
    figures.push(
      figure(
        `start ${pods}`,
        "x the floor",
        ratio(some, (sample) => sample.startMs),
        GOALS.start,
      ),
    );
    figures.push(...cpuFigures(`start ${pods}`, some, (sample) => cpuOf(sample, "start")));
    for (const behaviour of behaviours) {
      const those = some.filter((sample) => sample.behaviour === behaviour);
      const what = `remove ${pods}, ${WORDS[behaviour]}`;
      figures.push(
        figure(
          what,
          "x the floor",
          ratio(those, (sample) => sample.removeMs),
          GOALS.remove,
        ),
      );
      figures.push(...cpuFigures(what, those, (sample) => cpuOf(sample, "remove")));
    }
  }
  const agents = samples.flatMap(({ agent }) => agent ?? []);
  figures.push(
    figure("process start to healthy", "ms", median(agents.map((agent) => agent.healthyMs)), GOALS.healthyMs),
  );
  const idleMegabytes = median(agents.map((agent) => agent.idleMegabytes));
  figures.push(figure("memory without pods", "MB", idleMegabytes, GOALS.idleMegabytes));
  for (const pods of counts) {
    const some = samples.filter((sample) => sample.pods === pods).flatMap(({ agent }) => agent ?? []);
    const what = `memory just after ${pods} pods started`;
    figures.push(figure(what, "MB", median(some.map((agent) => agent.runningMegabytes)), undefined));
  }
  if (idle !== undefined) {
    const counts = idle.pods === GOAL_PODS;
    const percent = idle.cpuMsPerSecond / 10;
    figures.push(figure(`idle with ${idle.pods} pods`, "% of a core", percent, counts ? GOALS.idlePercent : undefined));
    const goal = counts ? GOALS.runningMegabytes : undefined;
    figures.push(figure(`memory with ${idle.pods} pods at rest`, "MB", idle.megabytes, goal));
  }
  return figures;
}

/** The figures as text. */
export function formatFigures(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, unit, goal, met }) => [
    what,
    `${value.toFixed(unit === "x the floor" ? 2 : unit === "% of a core" ? 1 : 0)} ${unit}`,
    goal === undefined ? "" : `goal ${goal}`,
    met === undefined ? "" : met ? "met" : "MISSED",
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const WORDS: Readonly<Record<Behaviour, string>> = { ignores: "SIGTERM ignored", obeys: "SIGTERM obeyed" };

function figure(what: string, unit: Figure["unit"], value: number, goal: number | undefined): Figure {
  return { what, value, unit, goal, met: goal === undefined ? undefined : value <= goal };
}

/** CPU time of agent and runtime together, against the runtime's own under the floor. */
function cpuFigures(
  what: string,
  samples: readonly Sample[],
  cpu: (sample: Sample) => number | undefined,
): readonly Figure[] {
  if (samples.some((sample) => cpu(sample) === undefined)) return [];
  return [
    figure(
      `${what}, CPU time`,
      "x the floor",
      ratio(samples, (sample) => cpu(sample) ?? 0),
      undefined,
    ),
  ];
}

function cpuOf({ runtimeCpuMs, agent }: Sample, phase: "start" | "remove"): number | undefined {
  if (runtimeCpuMs === undefined) return undefined;
  const own = agent === undefined ? 0 : phase === "start" ? agent.startCpuMs : agent.removeCpuMs;
  return runtimeCpuMs[phase] + own;
}

function ratio(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const of = (side: Sample["side"]): number => median(samples.filter((sample) => sample.side === side).map(value));
  return of("agent") / of("floor");
}
