import { isHostNetworkPod, type Pod } from "../../api/index.ts";
import type { ObservedPod, ObservedSandbox } from "../observed-pod.ts";

/** Whether the pod's newest sandbox serves, or a new one has to be made and with which attempt. */
export type SandboxDecision =
  | { readonly kind: "keep"; readonly sandbox: ObservedSandbox }
  | {
      readonly kind: "create";
      readonly attempt: number;
      /** The sandbox that is replaced; undefined for the first one and where nobody is to be told. */
      readonly replaces: string | undefined;
      readonly why: string;
    };

/**
 * First match wins: none yet; more than one ready; the newest not ready; its network mode differs from the pod's; it has a network but no
 * address. A new sandbox takes the highest attempt that was seen plus one, since runtimes never free an attempt's name by themselves.
 */
export function sandboxDecision(pod: Pod, observed: ObservedPod): SandboxDecision {
  const newest = observed.sandboxes[0];
  if (newest === undefined) return { kind: "create", attempt: 0, replaces: undefined, why: "the pod has no sandbox" };
  const attempt = newest.attempt + 1;
  const replace = (why: string): SandboxDecision => ({ kind: "create", attempt, replaces: newest.id, why });
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready).length;
  if (ready > 1) return replace(`the pod has ${ready} ready sandboxes`);
  if (!newest.ready) return replace("the sandbox is not ready");
  const hostNetwork = isHostNetworkPod(pod);
  if ((newest.networkMode === "NODE") !== hostNetwork) {
    return { kind: "create", attempt, replaces: undefined, why: "the network mode changed" };
  }
  if (!hostNetwork && newest.ips !== undefined && newest.ips.length === 0) return replace("the sandbox has no address");
  return { kind: "keep", sandbox: newest };
}
