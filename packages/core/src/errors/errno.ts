import type { ErrorKind } from "./nodelet-error.ts";

const KINDS: Readonly<Record<string, ErrorKind>> = {
  ENOENT: "notFound",
  ESRCH: "notFound",
  EEXIST: "alreadyExists",
  EADDRINUSE: "alreadyExists",
  EBUSY: "conflict",
  ENOTEMPTY: "conflict",
  EACCES: "permission",
  EPERM: "permission",
  EROFS: "permission",
  ENOSPC: "resourceExhausted",
  EDQUOT: "resourceExhausted",
  EMFILE: "resourceExhausted",
  ENFILE: "resourceExhausted",
  ENOMEM: "resourceExhausted",
  EFBIG: "resourceExhausted",
  EINVAL: "invalid",
  ENAMETOOLONG: "invalid",
  ELOOP: "invalid",
  ENOTDIR: "invalid",
  EISDIR: "invalid",
  ENOSYS: "unsupported",
  EOPNOTSUPP: "unsupported",
  EIO: "unavailable",
  ESTALE: "unavailable",
  ECONNREFUSED: "unavailable",
  ECONNRESET: "unavailable",
  EPIPE: "unavailable",
  ENETUNREACH: "unavailable",
  EHOSTUNREACH: "unavailable",
  EAI_AGAIN: "unavailable",
  ENOTFOUND: "unavailable",
  ETIMEDOUT: "unavailable",
};

/** The error kind that an errno name (`ENOENT`, errno(3)) stands for, for adapters; `internal` for the others. */
export function kindOfErrno(code: string | undefined): ErrorKind {
  return code !== undefined && Object.hasOwn(KINDS, code) ? (KINDS[code] ?? "internal") : "internal";
}
