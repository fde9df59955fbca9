import { notNegative, oneOf, portOrNone } from "../checks.ts";
import { setting } from "../setting.ts";
import * as kinds from "../value-kind.ts";

/** HTTP listeners. */
export const listenerSettings = {
  address: setting({
    flag: "address",
    field: "address",
    kind: kinds.ip,
    group: "Listeners",
    default: "0.0.0.0",
    deprecated: true,
    about: "Where the read-only listener listens.",
  }),
  readOnlyPort: setting({
    flag: "read-only-port",
    field: "readOnlyPort",
    kind: kinds.int32,
    group: "Listeners",
    default: 10_255,
    defaultWithFile: 0,
    deprecated: true,
    check: portOrNone,
    about: "The port of the read-only listener (pods and health, without authentication); 0 for none.",
  }),
  healthzBindAddress: setting({
    flag: "healthz-bind-address",
    field: "healthzBindAddress",
    kind: kinds.ip,
    group: "Listeners",
    default: "127.0.0.1",
    deprecated: true,
    about: "Where the health listener listens.",
  }),
  healthzPort: setting({
    flag: "healthz-port",
    field: "healthzPort",
    kind: kinds.int32,
    group: "Listeners",
    default: 10_248,
    deprecated: true,
    check: portOrNone,
    about: "The port of the health listener; 0 for none.",
  }),
};

/** The log. */
export const loggingSettings = {
  loggingFormat: setting({
    flag: "logging-format",
    field: "logging.format",
    kind: kinds.text,
    group: "Logging",
    default: "text",
    deprecated: true,
    check: oneOf("text", "json"),
    about: "text (klog's) or json.",
  }),
  verbosity: setting({
    flag: "v",
    short: "v",
    field: "logging.verbosity",
    kind: kinds.int32,
    group: "Logging",
    default: 0,
    check: notNegative,
    about: "How much is told: 2 steady state, 4 debugging, 6 requests.",
  }),
};
