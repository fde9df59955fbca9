import { readdirSync, readFileSync } from "node:fs";
import { type Pod, parseJson } from "../api/index.ts";

const FOLDER = new URL("../../testdata/upstream/pods/", import.meta.url);

/** A pod as the API server stored it, with what the kubelet posted about it. */
export interface StoredPod {
  readonly name: string;
  readonly pod: Pod;
  readonly status: NonNullable<Pod["status"]>;
}

/** Every recorded pod. */
export function storedPods(): StoredPod[] {
  return readdirSync(FOLDER).map((file) => {
    const text = readFileSync(new URL(file, FOLDER), "utf8");
    const { pod, status } = parseJson(text) as Omit<StoredPod, "name">;
    return { name: file.replace(/\.json$/, ""), pod, status };
  });
}
