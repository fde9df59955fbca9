import { between, cleanPath } from "../checks.ts";
import { setting } from "../setting.ts";
import * as kinds from "../value-kind.ts";

/** Where the configuration itself comes from. */
export const configurationSettings = {
  config: setting({
    flag: "config",
    kind: kinds.text,
    group: "Configuration",
    default: "",
    about: "A KubeletConfiguration (v1beta1) in YAML or JSON. Flags win over what it says.",
  }),
  configDir: setting({
    flag: "config-dir",
    kind: kinds.text,
    group: "Configuration",
    default: "",
    about: "A directory of drop-ins: *.conf, in lexical order, each merged over --config.",
  }),
  featureGates: setting({
    flag: "feature-gates",
    field: "featureGates",
    kind: kinds.switches,
    group: "Configuration",
    default: {},
    deprecated: true,
    about: "Features to switch on or off, as Name=true,Other=false.",
  }),
};

/** The node and the agent as a whole. */
export const nodeSettings = {
  rootDir: setting({
    flag: "root-dir",
    kind: kinds.text,
    group: "Node",
    default: "/var/lib/kubelet",
    check: cleanPath,
    about: "Where the agent keeps what it needs for pods, and its own state.",
  }),
  hostnameOverride: setting({
    flag: "hostname-override",
    kind: kinds.text,
    group: "Node",
    default: "",
    about: "The node's name in place of the host's.",
  }),
  nodeIp: setting({
    flag: "node-ip",
    kind: kinds.texts,
    group: "Node",
    default: [],
    about: "The node's addresses. 0.0.0.0 and :: only choose the family that is preferred.",
  }),
  takeOver: setting({
    flag: "take-over",
    kind: kinds.bool,
    group: "Node",
    default: false,
    about: "Adopt pods that another agent left in the runtime, instead of leaving them alone (nodelet's own flag).",
  }),
  protectKernelDefaults: setting({
    flag: "protect-kernel-defaults",
    field: "protectKernelDefaults",
    kind: kinds.bool,
    group: "Node",
    default: false,
    deprecated: true,
    about: "Do not change kernel parameters.",
  }),
  oomScoreAdj: setting({
    flag: "oom-score-adj",
    field: "oomScoreAdj",
    kind: kinds.int32,
    group: "Node",
    default: -999,
    deprecated: true,
    check: between({ least: -1000, most: 1000 }),
    about: "The agent's own oom_score_adj.",
  }),
  evictionHard: setting({
    field: "evictionHard",
    kind: kinds.thresholds,
    group: "Node",
    default: {},
    defaultWithFile: { "memory.available": "100Mi" },
    about: "What pods may not use: memory.available is taken off the memory that pods may ask for.",
  }),
};
