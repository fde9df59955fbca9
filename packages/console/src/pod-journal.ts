import { type PodLook, type PodRow, podRow } from "./pod-row.ts";
import { sortPods } from "./pod-table.ts";
import { printable } from "./text-width.ts";

/** Tells pods as plain lines, one for each pod that changed since the last call: what a pipe gets in place of a live table. */
export class PodJournal {
  #told = new Map<string, { readonly line: string; readonly pod: string }>();

  /** The lines of what is new: pods that came or changed, and pods that are gone. Times are UTC. */
  update(looks: readonly PodLook[], options: { readonly nowMs: number }): string[] {
    const time = new Date(options.nowMs).toISOString().slice(11, 19);
    const lines: string[] = [];
    const told = new Map<string, { readonly line: string; readonly pod: string }>();
    for (const look of sortPods(looks)) {
      const row = podRow(look, options);
      const line = plainLine(row);
      told.set(row.uid, { line, pod: row.pod });
      if (this.#told.get(row.uid)?.line !== line) lines.push(`${time} ${line}`);
    }
    for (const [uid, { pod }] of this.#told) if (!told.has(uid)) lines.push(`${time} ${pod} gone`);
    this.#told = told;
    return lines;
  }
}

/** Ages are left out: they change by themselves. */
function plainLine(row: PodRow): string {
  const restarts = row.restarts.replace(/ \(.*/, "");
  const words = [
    row.pod,
    row.phase.text,
    `ready ${row.ready.text}`,
    `restarts ${restarts}`,
    row.ip === "" ? "" : `ip ${row.ip}`,
    row.decision.text === "" ? "" : `- ${row.decision.text}`,
  ];
  return printable(words.filter((word) => word !== "").join(" "));
}
