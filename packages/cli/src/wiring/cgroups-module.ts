import { CgroupfsManager } from "@nodelet/cgroups-adapter";
import { ContainerModule } from "inversify";
import { ids } from "./identifiers.ts";

/** Cgroups of pods, as this machine has them mounted. */
export const cgroupsModule = new ContainerModule(({ bind }) => {
  bind(ids.cgroups)
    .toDynamicValue(() => CgroupfsManager.discover())
    .inSingletonScope();
});
