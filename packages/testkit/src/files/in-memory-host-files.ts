import type { ContainerOutput, LogLine } from "../runtime/container-output.ts";
import { HostTree } from "./host-tree.ts";

/**
 * The host's file system that an in-memory runtime and the in-memory file ports share: what a container logs is found by InMemoryContainerLogs,
 * what it writes as its termination message by InMemoryPodFiles. Logs are kept in CRI format.
 */
export class InMemoryHostFiles extends HostTree implements ContainerOutput {
  openLog(request: { readonly path: string }): void {
    if (!this.exists(request.path)) this.write({ path: request.path, content: "" });
  }

  writeLog(line: LogLine): void {
    this.append({ path: line.path, content: `${rfc3339Nano(line.atNs)} ${line.stream} F ${line.text}\n` });
  }

  writeFile(request: { readonly path: string; readonly content: string }): void {
    this.write(request);
  }
}

/** A time as the CRI log format has it: RFC 3339 in UTC with nine digits of a second. */
function rfc3339Nano(atNs: bigint): string {
  const seconds = new Date(Number(atNs / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${(atNs % 1_000_000_000n).toString().padStart(9, "0")}Z`;
}
