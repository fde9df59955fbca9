import { lookup } from "node:dns/promises";

/**
 * Addresses of a name by the system's resolver, empty when it knows none or does not answer in time. The resolver cannot be cancelled: a dead
 * name server must not hold up the start.
 */
export async function lookUpBounded(options: {
  readonly name: string;
  readonly timeoutMs: number;
}): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), options.timeoutMs);
  });
  const found = lookup(options.name, { all: true, verbatim: true }).then(
    (addresses) => addresses.map(({ address }) => address),
    () => [],
  );
  try {
    return await Promise.race([found, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
