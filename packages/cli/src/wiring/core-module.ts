import {
  type AgentConfig,
  createAgent,
  DirectoryPodSource,
  type DirectoryPodSourceOptions,
  type HttpFetch,
  type PodSource,
  standalonePorts,
  UrlPodSource,
} from "@nodelet/core";
import { ContainerModule } from "inversify";
import type { Settings } from "../settings/settings-table.ts";
import { ids } from "./identifiers.ts";

/** The agent itself, with what a node without an API server puts in the place of one. */
export const coreModule = new ContainerModule(({ bind }) => {
  bind(ids.standalone)
    .toResolvedValue((logger) => standalonePorts({ logger }), [ids.logger])
    .inSingletonScope();
  bind(ids.objects).toResolvedValue(({ objects }) => objects, [ids.standalone]);
  bind(ids.statusSink).toResolvedValue(({ statusSink }) => statusSink, [ids.standalone]);
  bind(ids.events).toResolvedValue(({ events }) => events, [ids.standalone]);
  bind(ids.sources)
    .toDynamicValue((context) =>
      podSources({
        settings: context.get(ids.settings),
        config: context.get(ids.config),
        fetch: context.get(ids.httpFetch),
        watch: context.get(ids.directoryWatch),
        clock: context.get(ids.clock),
        logger: context.get(ids.logger),
      }),
    )
    .inSingletonScope();
  bind(ids.agent)
    .toDynamicValue(async (context) => {
      const config = context.get(ids.config);
      return createAgent({
        config,
        sources: context.get(ids.sources),
        ports: {
          runtime: context.get(ids.runtime),
          images: context.get(ids.images),
          podFiles: context.get(ids.podFiles),
          containerLogs: context.get(ids.containerLogs),
          state: context.get(ids.state),
          cgroups: await context.getAsync(ids.cgroups),
          hostNetwork: context.get(ids.hostNetwork),
          machine: context.get(ids.machine),
          objects: context.get(ids.objects),
          events: context.get(ids.events),
          statusSink: context.get(ids.statusSink),
          clock: context.get(ids.clock),
          random: context.get(ids.random),
          logger: context.get(ids.logger),
        },
      });
    })
    .inSingletonScope();
});

type SourceInput = Pick<DirectoryPodSourceOptions, "watch" | "clock" | "logger"> & {
  readonly settings: Settings;
  readonly config: AgentConfig;
  readonly fetch: HttpFetch;
};

/** The sources that the settings name. */
function podSources(input: SourceInput): readonly PodSource[] {
  const { settings, config } = input;
  const shared = {
    ...input,
    nodeName: config.nodeName,
    refuseApiReferences: config.featureGates["PreventStaticPodAPIReferences"] !== false,
  };
  return [
    ...(settings.staticPodPath === ""
      ? []
      : [
          new DirectoryPodSource({
            ...shared,
            path: settings.staticPodPath,
            fileCheckFrequencyMs: settings.fileCheckFrequency,
          }),
        ]),
    ...(settings.staticPodUrl === ""
      ? []
      : [
          new UrlPodSource({
            ...shared,
            url: settings.staticPodUrl,
            headers: settings.staticPodUrlHeader,
            httpCheckFrequencyMs: settings.httpCheckFrequency,
          }),
        ]),
  ];
}
