/** From the text of a manifest to pods. */
export { type DecodedManifest, decodeManifest, MAX_MANIFEST_BYTES } from "./manifest.ts";
