import type { Container } from "../../api/index.ts";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The kubelet's hash of a container's definition (annotation io.kubernetes.container.hash): FNV-1a, 32 bit, over Go's dump of the JSON
 * `{"image":...,"name":...}`, in hex. Only name and image count, so that other changes never restart what runs.
 */
export function definitionHash(container: Pick<Container, "name" | "image">): string {
  const json = goJson({ image: container.image ?? "", name: container.name });
  const dump = `([]uint8)[${[...new TextEncoder().encode(json)].join(" ")}]`;
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(dump)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash.toString(16);
}

/** True when both are hashes of different definitions. An empty one tells nothing: whatever made that container, it is left running. */
export function definitionChanged(observedHash: string, container: Pick<Container, "name" | "image">): boolean {
  const held = observedHash.toLowerCase().replace(/^0+(?=.)/, "");
  return held !== "" && held !== definitionHash(container);
}

/** JSON as Go's encoder writes it: also `<`, `>`, `&` and the line separators are escaped. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
