import { between, oneOf } from "../checks.ts";
import { setting } from "../setting.ts";
import * as kinds from "../value-kind.ts";

/** Cgroups and CPU quota. */
export const cgroupSettings = {
  cgroupsPerQos: setting({
    flag: "cgroups-per-qos",
    field: "cgroupsPerQOS",
    kind: kinds.bool,
    group: "Cgroups",
    default: true,
    deprecated: true,
    about: "Give each pod a cgroup below its QoS class's.",
  }),
  cgroupRoot: setting({
    flag: "cgroup-root",
    field: "cgroupRoot",
    kind: kinds.text,
    group: "Cgroups",
    default: "",
    deprecated: true,
    about: "The cgroup below which pods are.",
  }),
  cgroupDriver: setting({
    flag: "cgroup-driver",
    field: "cgroupDriver",
    kind: kinds.text,
    group: "Cgroups",
    default: "cgroupfs",
    deprecated: true,
    check: oneOf("cgroupfs", "systemd"),
    about: "Who makes cgroups: cgroupfs (the agent itself). systemd is not built yet.",
  }),
  cpuCfsQuota: setting({
    flag: "cpu-cfs-quota",
    field: "cpuCFSQuota",
    kind: kinds.bool,
    group: "Cgroups",
    default: true,
    deprecated: true,
    about: "Hold containers to their CPU limits.",
  }),
  cpuCfsQuotaPeriod: setting({
    flag: "cpu-cfs-quota-period",
    field: "cpuCFSQuotaPeriod",
    kind: kinds.duration,
    group: "Cgroups",
    default: 100,
    deprecated: true,
    check: between({ least: 1, most: 1000 }),
    about: "The period that CPU limits are counted in.",
  }),
};
