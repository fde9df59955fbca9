import type { AgentPorts, DirectoryWatch, HttpFetch, Logger } from "@nodelet/core";
import { HostPodFiles } from "./files/host-pod-files.ts";
import { prepareHostDirectories } from "./files/prepare-directories.ts";
import { DescriptorOutput } from "./logging/log-output.ts";
import { StructuredLogger } from "./logging/structured-logger.ts";
import { HostContainerLogs } from "./logs/host-container-logs.ts";
import { LinuxMachine } from "./machine/linux-machine.ts";
import { HttpFetcher } from "./manifests/http-fetcher.ts";
import { InotifyDirectoryWatch } from "./manifests/inotify-directory-watch.ts";
import { HostNetwork } from "./network/host-network.ts";
import { FileStateStore } from "./state/file-state-store.ts";
import { CryptoRandom } from "./time/crypto-random.ts";
import { SystemClock } from "./time/system-clock.ts";

/** Where an agent works on this machine. */
export interface LinuxPortsOptions {
  /** Absolute; `config.rootDir`. Pod directories and state files. */
  readonly rootDir: string;
  /** Absolute; `config.podLogsDir`. */
  readonly podLogsDir: string;
  /** Absolute; where links to container logs lie, /var/log/containers on a node. */
  readonly containerLinksDir: string;
  /** The node's name when it is not the host name. */
  readonly nodeName?: string;
  /** In place of standard error as text, verbosity 2. */
  readonly logger?: Logger;
}

/** What an agent needs of the machine, and what the pod sources of core need beside it. */
export interface LinuxPorts
  extends Pick<
    AgentPorts,
    "podFiles" | "containerLogs" | "state" | "hostNetwork" | "machine" | "clock" | "random" | "logger"
  > {
  readonly directoryWatch: DirectoryWatch;
  readonly httpFetch: HttpFetch;
}

const STANDARD_ERROR = 2;

/**
 * Makes the directories and every port of this machine; runtime, images and cgroups come from other adapters. Two agents must not share a root
 * directory: whoever calls this sees to it. Throws as `prepareHostDirectories` does.
 */
export async function linuxPorts(options: LinuxPortsOptions): Promise<LinuxPorts> {
  const { rootDir, podLogsDir, containerLinksDir, nodeName } = options;
  await prepareHostDirectories({ rootDir, podLogsDir, containerLinksDir });
  const clock = new SystemClock();
  return {
    podFiles: new HostPodFiles({ rootDir, podLogsDir }),
    containerLogs: new HostContainerLogs({ podLogsDir, containerLinksDir }),
    state: new FileStateStore({ directory: rootDir, clock }),
    hostNetwork: new HostNetwork(),
    machine: new LinuxMachine(nodeName === undefined ? {} : { nodeName }),
    directoryWatch: new InotifyDirectoryWatch(),
    httpFetch: new HttpFetcher(),
    random: new CryptoRandom(),
    clock,
    logger:
      options.logger ??
      new StructuredLogger({
        output: new DescriptorOutput({
          fd: STANDARD_ERROR,
          droppedLine: (count) => `${count} log lines were dropped: standard error was not read fast enough\n`,
        }),
        clock,
        format: "text",
        verbosity: 2,
      }),
  };
}
