import { NodeletError } from "../errors/index.ts";
import { goQuote } from "../text/go-quote.ts";

/** An image reference in full: `busybox` is `docker.io/library/busybox:latest`. */
export interface ImageReference {
  /** Repository with its registry, without tag or digest. */
  readonly repository: string;
  /** `latest` when the text had neither tag nor digest; empty when it has only a digest. */
  readonly tag: string;
  /** `sha256:...`, or empty. */
  readonly digest: string;
}

const MAX_REFERENCE = 4096;
const MAX_REPOSITORY = 255;
const HEX_IDENTIFIER = /^[a-f0-9]{64}$/;

const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*";
const HOST_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const DOMAIN = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const NAME = `(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*`;
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const REFERENCE = new RegExp(`^(${NAME})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const NAME_WITH_DOMAIN = new RegExp(`^${DOMAIN}/(.+)$`);

const DIGEST_LENGTHS: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

/**
 * Parses an image reference by the grammar of OCI distribution, with Docker's defaults for registry, library and tag.
 * Throws `invalid` with the words of the reference library, which the kubelet shows in the pod's status.
 */
export function parseReference(text: string): ImageReference {
  try {
    return parsed(text);
  } catch (error) {
    const { message } = NodeletError.from(error);
    throw new NodeletError("invalid", `couldn't parse image name ${goQuote(text)}: ${message}`, { cause: error });
  }
}

/** The reference with `:latest` when it has neither tag nor digest; else as it is, without the registry that it leaves out. */
export function withDefaultTag(text: string): string {
  const { tag, digest } = parseReference(text);
  return digest === "" && tag !== "" && !text.endsWith(`:${tag}`) ? `${text}:${tag}` : text;
}

/** The pull policy that the API server would write: Always for the tag `latest`, which moves, else IfNotPresent. */
export function defaultPullPolicy(text: string): "Always" | "IfNotPresent" {
  return parseReference(text).tag === "latest" ? "Always" : "IfNotPresent";
}

function parsed(text: string): ImageReference {
  if (HEX_IDENTIFIER.test(text)) {
    throw fault(`invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`);
  }
  const { domain, remainder } = splitDomain(text);
  const colon = remainder.indexOf(":");
  const remote = colon === -1 ? remainder : remainder.slice(0, colon);
  if (remote.toLowerCase() !== remote) {
    throw fault(`invalid reference format: repository name (${remote}) must be lowercase`);
  }
  const full = `${domain}/${remainder}`;
  const match = full.length <= MAX_REFERENCE ? REFERENCE.exec(full) : null;
  if (match === null) throw fault("invalid reference format");
  const [, repository = "", tag = "", digest = ""] = match;
  const path = NAME_WITH_DOMAIN.exec(repository)?.[1] ?? repository;
  if (path.length > MAX_REPOSITORY) {
    throw fault(`repository name must not be more than ${MAX_REPOSITORY} characters`);
  }
  if (digest !== "") assertDigest(digest);
  return { repository, tag: tag === "" && digest === "" ? "latest" : tag, digest };
}

/** Docker's rule: what stands before the first slash is a registry when it looks like a host, else part of a name on Docker Hub. */
function splitDomain(text: string): { readonly domain: string; readonly remainder: string } {
  const hub = "docker.io";
  const slash = text.indexOf("/");
  if (slash === -1) return { domain: hub, remainder: `library/${text}` };
  const first = text.slice(0, slash);
  const isHost = first === "localhost" || /[.:]/.test(first) || first.toLowerCase() !== first;
  const domain = !isHost || first === "index.docker.io" ? hub : first;
  const remainder = isHost ? text.slice(slash + 1) : text;
  return { domain, remainder: domain === hub && !remainder.includes("/") ? `library/${remainder}` : remainder };
}

function assertDigest(digest: string): void {
  const [algorithm = "", hex = ""] = digest.split(":");
  const length = DIGEST_LENGTHS.get(algorithm);
  if (length === undefined) throw fault("unsupported digest algorithm");
  if (hex.length !== length) throw fault("invalid checksum digest length");
  if (!/^[0-9a-f]+$/.test(hex)) throw fault("invalid checksum digest format");
}

function fault(message: string): NodeletError {
  return new NodeletError("invalid", message);
}
