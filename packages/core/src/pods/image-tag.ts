const PATH_PART = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const HOST = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const DOMAIN = `(?:${HOST}(?:\\.${HOST})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*(?::(?<tag>[\\w][\\w.-]{0,127}))?(?<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
const MAX_LENGTH = 4096;

/**
 * The tag that an image reference ends in: `latest` when it has neither tag nor digest, empty when it has only a digest or is no reference
 * at all (distribution's reference grammar).
 */
export function imageTag(reference: string): string {
  const groups = reference.length <= MAX_LENGTH ? REFERENCE.exec(reference)?.groups : undefined;
  if (groups === undefined) return "";
  return groups["tag"] ?? (groups["digest"] === undefined ? "latest" : "");
}
