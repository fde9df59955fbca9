/** The candidate that is closest to what was written, when it is close enough to be meant. */
export function nearest(written: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  // A third of the letters may differ; of short words up to two, but never more than half.
  let least = Math.min(Math.max(2, Math.floor(written.length / 3)), Math.floor(written.length / 2)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(written, candidate, least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours between two words (Damerau-Levenshtein); `limit` when it is at least that. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const steps = [(last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)];
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1])
        steps.push((beforeLast[column - 2] ?? 0) + 1);
      current.push(Math.min(...steps));
    }
    if (Math.min(...current) >= limit) return limit;
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? limit;
}
