import type { NodeletError } from "../errors/index.ts";

/** Errors that CRI runtimes mark by how their message begins, with what the kubelet says of them. */
const MARKED: readonly { readonly reason: string; readonly says: string }[] = [
  { reason: "RegistryUnavailable", says: "because the registry is unavailable" },
  { reason: "SignatureValidationFailed", says: "because the signature validation failed" },
];

/** Reason and message that the container's status shows for a pull that failed. */
export function pullFault(options: { readonly image: string; readonly cause: NodeletError }): {
  readonly reason: string;
  readonly message: string;
} {
  const { image, cause } = options;
  for (const { reason, says } of MARKED) {
    if (!cause.message.startsWith(reason)) continue;
    return { reason, message: `image pull failed for ${image} ${says}${cause.message.slice(reason.length)}` };
  }
  return { reason: "ErrImagePull", message: cause.message };
}
