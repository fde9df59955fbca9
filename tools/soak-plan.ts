/** What a soak is asked to do. */
export interface SoakPlan {
  /** Both ends included; `to` is infinity when time alone ends it. */
  readonly from: number;
  readonly to: number;
  /** No batch begins after this many minutes; infinity when the seeds alone end it. */
  readonly minutes: number;
}

/** Seeds of one process, both ends included. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

const DEFAULT_MINUTES = 30;
const LAST_SEED = 2 ** 31 - 1;

/**
 * The plan of `--minutes N`, `--seeds FROM-TO`, or both. Without seeds they begin at `randomStart`, so that every soak looks at other ones.
 * Throws an Error that says what was expected.
 */
export function planSoak(options: {
  readonly minutes: string | undefined;
  readonly seeds: string | undefined;
  readonly randomStart: number;
}): SoakPlan {
  const { minutes, seeds, randomStart } = options;
  const limit = minutes === undefined ? undefined : Number(minutes);
  if (limit !== undefined && !(limit > 0 && limit <= 10_000)) {
    throw new Error(`--minutes ${minutes}: expected a number of minutes above 0`);
  }
  if (seeds === undefined) {
    return { from: randomStart, to: Number.POSITIVE_INFINITY, minutes: limit ?? DEFAULT_MINUTES };
  }
  const [, from, to] = /^(\d{1,10})-(\d{1,10})$/.exec(seeds) ?? [];
  const range = { from: Number(from), to: Number(to) };
  if (!(range.from <= range.to && range.to <= LAST_SEED)) {
    throw new Error(`--seeds ${seeds}: expected FROM-TO, for example 1-5000`);
  }
  return { ...range, minutes: limit ?? Number.POSITIVE_INFINITY };
}

/** Hands out batches of at most `batchSeeds` seeds, fewer when there would be none for some of the workers, until the plan's seeds are used up. */
export function* seedBatches(
  plan: SoakPlan,
  options: { readonly batchSeeds: number; readonly workers: number },
): Generator<SeedRange> {
  const size = Math.min(options.batchSeeds, Math.ceil((plan.to - plan.from + 1) / options.workers));
  for (let from = plan.from; from <= plan.to; from += size) {
    yield { from, to: Math.min(plan.to, from + size - 1) };
  }
}

/** What vitest's JSON report of one batch says. */
export interface BatchReport {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly { readonly failureMessages?: readonly string[] }[];
  }[];
}

/** The seeds that did not hold, each with its problems and its replay command, as the simulation test tells them. */
export function failedSeeds(report: BatchReport): readonly string[] {
  const messages = report.testResults.flatMap(({ message, assertionResults }) => [
    ...assertionResults.flatMap(({ failureMessages = [] }) => failureMessages),
    ...(assertionResults.length === 0 && message ? [message] : []),
  ]);
  const seeds = messages.flatMap((message) => message.match(/seed \d+: .*\n {2}replay: .*?(?=\n|$|: expected)/g) ?? []);
  return seeds.length > 0 ? seeds : messages;
}
