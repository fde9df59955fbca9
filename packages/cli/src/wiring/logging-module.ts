import { DescriptorOutput, StructuredLogger } from "@nodelet/host-adapter";
import { ContainerModule } from "inversify";
import { ids } from "./identifiers.ts";

const STANDARD_ERROR = 2;

/** The log: klog's text form or JSON, on standard error. */
export const loggingModule = new ContainerModule(({ bind }) => {
  bind(ids.logOutput)
    .toDynamicValue(
      () =>
        new DescriptorOutput({
          fd: STANDARD_ERROR,
          droppedLine: (count) => `${count} log lines were dropped: standard error was not read fast enough\n`,
        }),
    )
    .inSingletonScope();
  bind(ids.logger)
    .toResolvedValue(
      (output, clock, settings) =>
        new StructuredLogger({
          output,
          clock,
          format: settings.loggingFormat === "json" ? "json" : "text",
          verbosity: settings.verbosity,
        }),
      [ids.logOutput, ids.clock, ids.settings],
    )
    .inSingletonScope();
});
