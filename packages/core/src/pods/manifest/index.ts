/** From the text of a manifest to pods. */
export { type DecodedManifest, decodeManifest, MAX_MANIFEST_BYTES } from "./manifest.ts";
export { type DecodedObject, type DecodeObjectInput, decodeObject } from "./typed-object.ts";
