import type { Pod, PodList } from "../../api/index.ts";
import { type DecodedObject, decodeObject } from "./typed-object.ts";

export { MAX_MANIFEST_BYTES } from "./typed-object.ts";

/** One manifest, decoded. Defaults are not applied and nothing is validated beyond the types. */
export interface DecodedManifest extends Pick<DecodedObject, "warnings" | "locate"> {
  readonly kind: "Pod" | "PodList";
  readonly pods: readonly Pod[];
}

/**
 * Decodes the text of one manifest: a Pod or a PodList of v1, in JSON or YAML 1.1 as Kubernetes reads it. Only the first document of a YAML
 * stream counts. Throws `invalid`, and nothing else, whose message names the source, line and column, the field and what was expected.
 */
export function decodeManifest(input: {
  readonly bytes: Uint8Array | string;
  readonly source: string;
}): DecodedManifest {
  const { kind, value, warnings, locate } = decodeObject({ ...input, apiVersion: "v1", kinds: ["Pod", "PodList"] });
  // What was decoded against the schema of a type is of that type.
  return kind === "Pod"
    ? { kind, pods: [value as Pod], warnings, locate }
    : { kind: "PodList", pods: (value as unknown as PodList).items, warnings, locate };
}
