import { afterAll, beforeAll, describe, it } from "vitest";

/**
 * Where an implementation knowingly departs from a contract: the title of a test, and why it cannot hold. The test must then fail; one that
 * passes again, or a title that the suite does not have, fails the suite, so that the list stays true.
 */
export type Deviations = Readonly<Record<string, string>>;

/** What every fixture has. */
export interface ContractFixture {
  /** Takes down what the fixture made. Called once, after the last test. */
  readonly cleanup?: () => Promise<void>;
}

/** Adds one test to a suite; `fixture` is there when it runs. */
export type ContractTest<F> = (title: string, test: (fixture: F) => Promise<void>) => void;

/** What a contract suite is given. */
export interface ContractOptions<F> {
  /** Names the implementation in the report. */
  readonly name: string;
  /** Makes the implementation and what the suite needs beside it. Called once, before the first test. */
  readonly makeFixture: () => F | Promise<F>;
  readonly deviations?: Deviations;
}

/** A vitest suite over one fixture, with deviations taken into account. */
export function describeContract<F extends ContractFixture>(
  contract: string,
  options: ContractOptions<F>,
  define: (test: ContractTest<F>) => void,
): void {
  const { name, makeFixture, deviations = {} } = options;
  describe(`${contract}: ${name}`, () => {
    let fixture: F | undefined;
    const titles = new Set<string>();
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(async () => {
      await fixture?.cleanup?.();
    });
    define((title, test) => {
      titles.add(title);
      const run = async () => {
        if (fixture === undefined) throw new Error("the fixture could not be made");
        await test(fixture);
      };
      const reason = deviations[title];
      const addTest = reason === undefined ? it : it.fails;
      addTest(reason === undefined ? title : `${title} (deviates: ${reason})`, run);
    });
    const unknown = Object.keys(deviations).filter((title) => !titles.has(title));
    if (unknown.length > 0) {
      throw new Error(`deviations that name no test of the ${contract}: ${unknown.join("; ")}`);
    }
  });
}
