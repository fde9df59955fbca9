import { posix } from "node:path";
import { error, type Finding } from "./finding.ts";
import type { SourceFile } from "./source-file.ts";
import type { Workspace, WorkspacePackage } from "./workspace.ts";

/**
 * Import cycles between the files of one package. In core, imports of types count as well: a cycle of types is two
 * nouns that cannot be understood one after the other. Elsewhere only what is there at run time counts.
 */
export function checkCycles(workspace: Workspace): Finding[] {
  return workspace.packages.flatMap((owner) => {
    const countTypes = owner.name === "@nodelet/core";
    return cyclesOf(owner, countTypes).map((cycle) =>
      error(
        cycle[0] as string,
        `import cycle: ${[...cycle, cycle[0]].join(" -> ")}: move what both need into a third file`,
      ),
    );
  });
}

/** Each strongly connected group of files once, as one cycle that starts at its alphabetically first file. */
function cyclesOf(owner: WorkspacePackage, countTypes: boolean): string[][] {
  const files = new Map(owner.files.filter((file) => !file.isGenerated).map((file) => [file.path, file]));
  const targets = (file: SourceFile) =>
    file.imports
      .filter((entry) => entry.specifier.startsWith(".") && (countTypes || !entry.typeOnly))
      .map((entry) => posix.join(posix.dirname(file.path), entry.specifier))
      .filter((path) => files.has(path));
  const edges = new Map([...files.values()].map((file) => [file.path, [...new Set(targets(file))].sort()]));
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const start of [...files.keys()].sort()) {
    if (seen.has(start)) {
      continue;
    }
    const cycle = shortestWayBack(start, edges);
    if (cycle !== undefined) {
      cycles.push(cycle);
      for (const path of cycle) seen.add(path);
    }
    seen.add(start);
  }
  return cycles;
}

function shortestWayBack(start: string, edges: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const next of edges.get(at) ?? []) {
      if (next === start) {
        const way = [at];
        while (way[0] !== start) {
          way.unshift(cameFrom.get(way[0] as string) as string);
        }
        return way;
      }
      if (!cameFrom.has(next)) {
        cameFrom.set(next, at);
        queue.push(next);
      }
    }
  }
  return undefined;
}
