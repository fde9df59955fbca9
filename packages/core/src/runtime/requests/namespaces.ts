import { isHostNetworkPod, type Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { NamespaceMode, NamespaceOption } from "../../ports/runtime-types.ts";
import { goQuote } from "../../text/go-quote.ts";
import type { PodRequestContext } from "./request-context.ts";

/**
 * The namespaces of a pod. Network and IPC belong to the pod or the host; the process namespace is each container's own unless the pod shares
 * it. Throws `unsupported` for `hostUsers: false` where the runtime has no user namespaces (KEP-127).
 */
export function namespaceOptions(
  context: Pick<PodRequestContext, "pod" | "runtimeHandler" | "userNamespace">,
): NamespaceOption {
  const { pod } = context;
  return {
    network: networkNamespace(pod),
    pid: pidNamespace(pod),
    ipc: pod.spec?.hostIPC === true ? "NODE" : "POD",
    usernsOptions: userNamespace(context),
  };
}

function networkNamespace(pod: Pod): NamespaceMode {
  return isHostNetworkPod(pod) ? "NODE" : "POD";
}

function pidNamespace(pod: Pod): NamespaceMode {
  if (pod.spec?.hostPID === true) return "NODE";
  return pod.spec?.shareProcessNamespace === true ? "POD" : "CONTAINER";
}

function userNamespace(
  context: Pick<PodRequestContext, "pod" | "runtimeHandler" | "userNamespace">,
): NonNullable<NamespaceOption["usernsOptions"]> {
  if (context.pod.spec?.hostUsers !== false) return { mode: "NODE" };
  if (context.userNamespace !== undefined) return context.userNamespace;
  const handler = context.runtimeHandler ?? "";
  const who = handler === "" ? "runtime" : `RuntimeClass handler ${goQuote(handler)}`;
  throw new NodeletError("unsupported", `can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces`);
}
