import type { StoredImage } from "../images/stored-image.ts";

/** The process that a container is about to run, as far as a program may look at it. */
export interface ProcessInfo {
  /** Command and arguments after those of the image were filled in. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly image: StoredImage;
  readonly containerId: string;
  readonly containerName: string;
  /** CRI attempt of the container. */
  readonly attempt: number;
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
  /** True when it is process 1 of its PID namespace, which does not die of signals that it does not handle. */
  readonly isPid1: boolean;
}

/** How a process ends by itself. */
export interface ProcessExit {
  readonly afterMs: number;
  readonly exitCode: number;
  /** Reason of the container's status; `Completed` or `Error` by the exit code when absent. */
  readonly reason?: string;
}

/** What a process writes and when, counted from its start. */
export interface ProcessOutput {
  readonly afterMs?: number;
  readonly stream?: "stdout" | "stderr";
  readonly text: string;
}

/** What a process does. Without `exit` it runs until it is stopped. */
export interface ProcessPlan {
  /** It cannot be started, for this reason, for example `exec: "/no/such": stat /no/such: no such file or directory`. */
  readonly startError?: string;
  readonly exit?: ProcessExit;
  /**
   * What the stop signal does: nothing (SIGKILL ends it, exit code 137), or an exit after a while. When absent it ends at once with 143, as a
   * process that SIGTERM kills.
   */
  readonly onStop?: "ignore" | { readonly afterMs?: number; readonly exitCode: number };
  readonly output?: readonly ProcessOutput[];
  /** Written to the termination log when it ends by itself or by the stop signal. */
  readonly terminationMessage?: string;
}

/** Decides what a process does. `undefined` leaves it to the next program, in the end to `defaultProgram`. */
export type Program = (process: ProcessInfo) => ProcessPlan | undefined;
