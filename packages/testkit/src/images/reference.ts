import { NodeletError } from "@nodelet/core";

/** A parsed image reference: `repository` with its host, and a tag or a digest or both. */
export interface ImageReference {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const PATH_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const DOMAIN = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::\d+)?$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads an image reference as container runtimes do: without a host it is one of Docker Hub (`busybox` is
 * `docker.io/library/busybox:latest`). `invalid` for what is no reference.
 */
export function parseReference(text: string): ImageReference {
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) throw invalidReference();
  const lastSlash = named.lastIndexOf("/");
  const colon = named.indexOf(":", lastSlash + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  if (tag !== undefined && !TAG.test(tag)) throw invalidReference();

  const { host, path } = splitHost(name);
  if (path !== path.toLowerCase()) throw invalidReference(`: repository name (${path}) must be lowercase`);
  if (!DOMAIN.test(host) || !path.split("/").every((part) => PATH_PART.test(part))) throw invalidReference();
  return {
    repository: `${host}/${path}`,
    ...(tag === undefined && digest === undefined ? { tag: "latest" } : tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** The reference in full: with host, and with the tag or, where there is one, the digest alone, as containerd keeps it. */
export function formatReference(reference: ImageReference): string {
  return reference.digest === undefined
    ? `${reference.repository}:${reference.tag ?? "latest"}`
    : `${reference.repository}@${reference.digest}`;
}

function splitHost(name: string): { host: string; path: string } {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  if (
    slash >= 0 &&
    (first.includes(".") || first.includes(":") || first === "localhost" || first !== first.toLowerCase())
  ) {
    return { host: first, path: name.slice(slash + 1) };
  }
  return { host: "docker.io", path: slash < 0 ? `library/${name}` : name };
}

function invalidReference(detail = ""): NodeletError {
  return new NodeletError("invalid", `invalid reference format${detail}`);
}
