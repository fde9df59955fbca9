/** System calls that Node.js lacks, with what was found shown as capabilities. */
export {
  type AcquireLockOptions,
  acquireLock,
  FileLock,
  type LockHolder,
  type LockOutcome,
  LockUnavailableError,
  socketLockPath,
} from "./file-lock.ts";
export { type NativeCapabilities, type NativeProgram, nativeCapabilities } from "./native-programs.ts";
