import type { Logger } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";

/** A Logger that shows debug records up to verbosity 4, and a look at what it wrote. */
export interface LoggerFixture extends ContractFixture {
  readonly logger: Logger;
  /** Everything that was written since the last call, as text in whatever form. */
  readonly takeText: () => Promise<string>;
}

/** What every Logger must do. */
export function describeLoggerContract(options: ContractOptions<LoggerFixture>): void {
  describeContract("Logger contract", options, (test) => {
    test("writes message and fields of each level", async ({ logger, takeText }) => {
      await takeText();
      logger.info("first-message", { count: 17 });
      logger.warn("second-message", { big: 12_345_678_901_234_567_890n });
      logger.error("third-message", { err: new Error("the-cause") });
      logger.debug(4, "fourth-message", { list: ["entry-a", "entry-b"] });
      const text = await takeText();
      for (const part of [
        "first-message",
        "17",
        "second-message",
        "12345678901234567890",
        "third-message",
        "the-cause",
      ]) {
        expect(text).toContain(part);
      }
      for (const part of ["fourth-message", "entry-a", "entry-b"]) expect(text).toContain(part);
    });

    test("leaves out what is beyond its verbosity, and says so before", async ({ logger, takeText }) => {
      await takeText();
      expect([logger.enabled(4), logger.enabled(5)]).toEqual([true, false]);
      logger.debug(5, "too-much");
      expect(await takeText()).not.toContain("too-much");
    });

    test("binds fields, one layer upon another, and leaves the logger they were bound to as it was", async (fixture) => {
      const { logger, takeText } = fixture;
      await takeText();
      const bound = logger.with({ pod: "pod-of-this-line" }).with({ container: "container-of-this-line" });
      bound.info("bound");
      const text = await takeText();
      expect(text).toContain("pod-of-this-line");
      expect(text).toContain("container-of-this-line");
      logger.info("unbound");
      expect(await takeText()).not.toContain("pod-of-this-line");
    });

    test("never throws, whatever it is given", async ({ logger, takeText }) => {
      const circular: Record<string, unknown> = {};
      circular["self"] = circular;
      logger.error("odd", { err: circular });
      logger.error("odder", { err: undefined });
      logger.info("line\nbreak", { key: "a\u0000b" });
      expect(await takeText()).toContain("odd");
    });
  });
}
