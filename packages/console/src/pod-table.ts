import { type PodLook, type PodRow, podRow } from "./pod-row.ts";
import { type Cell, type Column, layOutTable } from "./table.ts";

const COLUMNS: readonly Column[] = [
  { title: "POD", shrink: { order: 3, to: 16 } },
  { title: "PHASE", shrink: { order: 2, to: 26 } },
  { title: "READY" },
  { title: "RESTARTS", dropOrder: 4 },
  { title: "IP", dropOrder: 2 },
  { title: "AGE", dropOrder: 3 },
  { title: "LAST DECISION", dropOrder: 1, shrink: { order: 1, to: 24 } },
];

/** Pods in the order in which they are shown: by namespace and name. */
export function sortPods<T extends PodLook>(looks: readonly T[]): T[] {
  const key = ({ pod }: PodLook): string => `${pod.metadata?.namespace ?? ""}/${pod.metadata?.name ?? ""}`;
  return [...looks].sort((left, right) => (key(left) < key(right) ? -1 : key(left) > key(right) ? 1 : 0));
}

/** The table of pods as lines, titles first. `width` in cells of the terminal; no limit when absent. */
export function podTable(
  looks: readonly PodLook[],
  options: { readonly nowMs: number; readonly width?: number; readonly colour: boolean },
): string[] {
  const rows = sortPods(looks).map((look) => cellsOf(podRow(look, options)));
  return layOutTable({
    columns: COLUMNS,
    rows,
    colour: options.colour,
    ...(options.width !== undefined && { width: options.width }),
  });
}

function cellsOf(row: PodRow): Cell[] {
  return [
    { text: row.pod },
    row.phase,
    row.ready,
    { text: row.restarts },
    { text: row.ip },
    { text: row.age },
    row.decision,
  ];
}
