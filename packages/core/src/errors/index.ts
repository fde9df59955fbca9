export { kindOfErrno } from "./errno.ts";
export {
  type ErrorKind,
  isErrorOfKind,
  NodeletError,
  type NodeletErrorOptions,
  throwIfAborted,
} from "./nodelet-error.ts";
