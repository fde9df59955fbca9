import { createCriAdapter } from "@nodelet/cri-adapter";
import { ContainerModule } from "inversify";
import { ids } from "./identifiers.ts";

/** The container runtime over CRI. */
export const runtimeModule = new ContainerModule(({ bind }) => {
  bind(ids.criAdapter)
    .toResolvedValue(
      (settings, clock, logger) =>
        createCriAdapter({
          runtimeEndpoint: settings.containerRuntimeEndpoint,
          imageEndpoint: settings.imageServiceEndpoint,
          requestTimeoutMs: settings.runtimeRequestTimeout,
          clock,
          logger,
        }),
      [ids.settings, ids.clock, ids.logger],
    )
    .inSingletonScope()
    .onDeactivation((adapter) => adapter.close());
  bind(ids.runtime).toResolvedValue(({ runtime }) => runtime, [ids.criAdapter]);
  bind(ids.images).toResolvedValue(({ images }) => images, [ids.criAdapter]);
});
