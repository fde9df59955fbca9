import { readdirSync, readFileSync } from "node:fs";
import { type Pod, type PodStatus, parseJson } from "@nodelet/core";

const FOLDER = new URL("../../packages/core/testdata/upstream/pods/", import.meta.url);

/** One changing call of the recording, in protobuf's JSON form; `error` is the gRPC code of one that failed. */
export interface RecordedCri {
  readonly call: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly error?: number;
  readonly message?: string;
}

/** An event with its count, as the API server held it. */
export interface RecordedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly fieldPath?: string;
}

/** What kubelet 1.36.2 did with one pod in 17 s, ids, times and addresses replaced by placeholders. */
export interface Recording {
  readonly pod: Pod;
  readonly cri: readonly RecordedCri[];
  readonly status: PodStatus;
  readonly events: readonly RecordedEvent[];
}

/** Names of all recordings. */
export function recordingNames(): readonly string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ""))
    .sort();
}

/** One recording. */
export function loadRecording(name: string): Recording {
  return parseJson(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Recording;
}
