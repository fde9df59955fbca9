import {
  type Container,
  type ContainerPort,
  type EphemeralContainer,
  type LifecycleHandler,
  type Pod,
  stringifyJson,
} from "../../api/index.ts";
import { goStruct } from "../../text/go-struct.ts";
import { definitionHash } from "../plan/container-hash.ts";
import { ANNOTATIONS } from "./names.ts";

const PORT_FIELDS = ["name?", "hostPort?", "containerPort", "protocol?", "hostIP?"];
const HTTP_FIELDS = ["path?", "port", "host?", "scheme?"];

/** Annotations of a container: what any kubelet needs to judge, show and stop it when its pod is gone from the API. */
export function containerAnnotations(options: {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly restartCount: number;
}): Record<string, string> {
  const { pod, container } = options;
  const deletionGrace = pod.metadata?.deletionGracePeriodSeconds;
  const terminationGrace = pod.spec?.terminationGracePeriodSeconds;
  const preStop = container.lifecycle?.preStop;
  const ports = container.ports ?? [];
  return {
    [ANNOTATIONS.hash]: definitionHash(container),
    [ANNOTATIONS.restartCount]: String(options.restartCount),
    [ANNOTATIONS.terminationMessagePath]: container.terminationMessagePath ?? "",
    [ANNOTATIONS.terminationMessagePolicy]: container.terminationMessagePolicy ?? "",
    ...(deletionGrace === undefined ? {} : { [ANNOTATIONS.deletionGracePeriod]: String(deletionGrace) }),
    ...(terminationGrace === undefined ? {} : { [ANNOTATIONS.terminationGracePeriod]: String(terminationGrace) }),
    ...(preStop === undefined ? {} : { [ANNOTATIONS.preStopHandler]: json(handlerStruct(preStop)) }),
    ...(ports.length === 0 ? {} : { [ANNOTATIONS.ports]: json(ports.map(portStruct)) }),
  };
}

function json(value: unknown): string {
  return stringifyJson(value, { goEscapes: true });
}

function portStruct(port: ContainerPort): object {
  return goStruct(port, PORT_FIELDS);
}

function handlerStruct(handler: LifecycleHandler): object {
  const { exec, httpGet, tcpSocket, sleep } = handler;
  const headers = (httpGet?.httpHeaders ?? []).map((header) => goStruct(header, ["name", "value"]));
  return {
    ...(exec === undefined ? {} : { exec: goStruct(exec, ["command?"]) }),
    ...(httpGet === undefined
      ? {}
      : { httpGet: { ...goStruct(httpGet, HTTP_FIELDS), ...(headers.length === 0 ? {} : { httpHeaders: headers }) } }),
    ...(tcpSocket === undefined ? {} : { tcpSocket: goStruct(tcpSocket, ["port", "host?"]) }),
    ...(sleep === undefined ? {} : { sleep: goStruct(sleep, ["seconds"]) }),
  };
}
