import { kindOfErrno, NodeletError } from "@nodelet/core";
import { errnoOf } from "@nodelet/lib-safe-fs";

/** Does work on the cgroup file system and turns what it throws into a NodeletError whose message begins with `what`. */
export async function cgroupCall<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (NodeletError.is(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new NodeletError(kindOfErrno(errnoOf(error)), `${what}: ${message}`, { cause: error });
  }
}
