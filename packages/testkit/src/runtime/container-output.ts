/** One line that a process wrote. */
export interface LogLine {
  /** Absolute host path of the log. */
  readonly path: string;
  /** Nanoseconds since the Unix epoch. */
  readonly atNs: bigint;
  readonly stream: "stdout" | "stderr";
  /** Without the line feed. */
  readonly text: string;
}

/**
 * Where an in-memory runtime leaves what its containers write on the host: logs in CRI format and termination messages. Implemented by
 * InMemoryHostFiles; calls never fail, since a container does not notice when its log is lost.
 */
export interface ContainerOutput {
  /** Makes the log when it is not there: the runtime opens it before it starts the process. */
  openLog(request: { readonly path: string }): void;
  writeLog(line: LogLine): void;
  /** Replaces the content of a file that is mounted into the container, such as its termination log. */
  writeFile(request: { readonly path: string; readonly content: string }): void;
}

/** Throws everything away: for tests that read no logs. */
export const discardOutput: ContainerOutput = { openLog() {}, writeLog() {}, writeFile() {} };
