import type { ImageService, LinuxSandboxConfig, RuntimeService } from "@nodelet/core";
import type { ContractFixture } from "./contract.ts";

/** Commands of the present image, by what their process does. Each runs as process 1 of its container. */
export interface ContractCommands {
  /** Runs until it is stopped, and ends within a second of the stop signal, with exit code 0. */
  readonly obeysStop: readonly string[];
  /** Runs until it is killed. */
  readonly ignoresStop: readonly string[];
  /** Ends by itself with that code within a second. */
  readonly exits: (exitCode: number) => readonly string[];
  /** Writes a line to its standard output and ends with 0. */
  readonly prints: (line: string) => readonly string[];
  /** A path that the image does not have. */
  readonly missing: readonly string[];
}

/** What the runtime and image suites need: an implementation, and how to use it. */
export interface RuntimeFixture extends ContractFixture {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Reference of an image that is there. */
  readonly presentImage: string;
  /** Reference of an image that is neither there nor can be pulled. */
  readonly absentImage: string;
  /** Reference of an image that is not there and can be pulled, when the fixture has a registry. */
  readonly pullableImage?: string;
  /** Names of the suite's pods begin with it; the suite touches no other pod. Lower case, at most 20 characters. */
  readonly uniquePrefix: string;
  readonly commands: ContractCommands;
  /** Linux settings that sandboxes need here, for example a cgroup parent. */
  readonly linux?: LinuxSandboxConfig;
  /** Makes an empty directory for a pod's logs and answers its absolute path. */
  readonly makeLogDirectory: (podName: string) => Promise<string>;
  /** Content of a log. */
  readonly readLog: (path: string) => Promise<string>;
  /** Looks again and again, letting time pass between, until the condition holds; rejects after about 30 s. */
  readonly waitFor: (condition: () => Promise<boolean>) => Promise<void>;
}
