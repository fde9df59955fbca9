import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../api/index.ts";
import { planSnapshot } from "../observed-pod.test-support.ts";
import type { ObservedPod } from "../observed-pod.ts";
import { planPod } from "./plan.ts";

/** The order of calls recorded from kubelet 1.36.2, against the plan for a pod that nothing was made of yet. */
const DIRECTORY = new URL("../../../testdata/upstream/pods/", import.meta.url);

interface Recording {
  readonly pod: Pod;
  readonly cri: readonly {
    readonly call: string;
    readonly request: {
      readonly container_id?: string;
      readonly config?: {
        readonly metadata?: { readonly name?: string; readonly attempt?: number };
        readonly annotations?: Readonly<Record<string, string>>;
      };
    };
  }[];
}

/** Pods that were turned away, or failed before their first container: nothing of them was created, or not everything that was planned. */
const NOTHING_CREATED = [
  "adm-cpu",
  "adm-os",
  "sec-sysctl-bad",
  "vol-cm-missing",
  "sec-proc-unmasked",
  "env-missing-key",
  "env-missing-map",
  "out-badimage",
  "out-never",
  "out-noimage",
];

describe("the first plan against calls recorded from kubelet 1.36.2", () => {
  const names = readdirSync(DIRECTORY).map((file) => file.replace(/\.json$/, ""));

  it.each(names.filter((name) => !NOTHING_CREATED.includes(name)))("%s", (name) => {
    const { pod, cri } = JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8")) as Recording;
    expect(plannedCalls(pod)).toEqual(recordedCalls(cri).slice(0, plannedCalls(pod).length));
  });

  it.each(NOTHING_CREATED)("%s: nothing was created", (name) => {
    const { cri } = JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), "utf8")) as Recording;
    expect(recordedCalls(cri).filter((call) => call.startsWith("Create"))).toEqual([]);
  });
});

function plannedCalls(pod: Pod): readonly string[] {
  const { uid = "", name = "", namespace = "" } = pod.metadata ?? {};
  const nothing: ObservedPod = { uid, name, namespace, sandboxes: [], containers: [], lookedAtMs: 0 };
  return planPod(planSnapshot(pod, nothing)).steps.flatMap((step) => {
    switch (step.kind) {
      case "runSandbox":
        return [`RunPodSandbox ${step.attempt}`];
      case "createContainer":
        return [`CreateContainer ${step.containerName} ${step.restartCount}`];
      case "startContainer":
        return [`StartContainer ${step.containerName}`];
      default:
        return [];
    }
  });
}

function recordedCalls(cri: Recording["cri"]): readonly string[] {
  const created: string[] = [];
  return cri.flatMap(({ call, request }) => {
    const { name = "", attempt = 0 } = request.config?.metadata ?? {};
    switch (call) {
      case "RunPodSandbox":
        return [`RunPodSandbox ${attempt}`];
      case "CreateContainer":
        created.push(name);
        // The kubelet's restart count is the CRI attempt.
        return [`CreateContainer ${name} ${request.config?.annotations?.["io.kubernetes.container.restartCount"]}`];
      case "StartContainer":
        return [`StartContainer ${created[Number(request.container_id?.replace("CONTAINER_", ""))]}`];
      default:
        return [];
    }
  });
}
