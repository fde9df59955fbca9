import { type Pod, stringifyJson, type Toleration } from "../api/index.ts";
import { NodeletError } from "../errors/index.ts";
import { CONFIG_HASH } from "./annotations.ts";
import { findApiReferences } from "./api-references.ts";
import { defaultPod } from "./defaults.ts";
import { fnv128a } from "./fnv128.ts";
import { type DecodedManifest, decodeManifest } from "./manifest/index.ts";
import { formatProblem, validateGivenUid, validatePod } from "./validation/index.ts";

/** Where a static pod comes from: it is part of its identity. */
export interface StaticPodOrigin {
  readonly kind: "file" | "url";
  /** Absolute path of the file, or the URL. */
  readonly location: string;
}

/** What a manifest came to. */
export interface StaticPods {
  readonly pods: readonly Pod[];
  readonly warnings: readonly string[];
}

/** Static pods of this node from one manifest. */
export interface StaticPodInput {
  readonly bytes: Uint8Array | string;
  readonly origin: StaticPodOrigin;
  readonly nodeName: string;
  /** Refuse pods that refer to API objects (gate PreventStaticPodAPIReferences). Default true. */
  readonly refuseApiReferences?: boolean;
}

/**
 * Decodes a manifest into pods as this node runs them: defaults applied, UID, name, namespace and annotations given by the kubelet's rules,
 * validated. A file holds one Pod; a URL may answer a PodList. Throws `invalid`, and nothing else, naming place, field and remedy.
 */
export function decodeStaticPods(input: StaticPodInput): StaticPods {
  const source = input.origin.location;
  const manifest = decodeManifest({ bytes: input.bytes, source });
  if (manifest.kind === "PodList" && input.origin.kind === "file") {
    throw new NodeletError(
      "invalid",
      `${source}: expected one Pod, found a PodList; put each pod into a file of its own`,
    );
  }
  const pods = manifest.pods.map((decoded, index) => {
    const prefix = manifest.kind === "Pod" ? "" : `items[${index}].`;
    if (!decoded.metadata?.name) {
      throw new NodeletError(
        "invalid",
        `${manifest.locate(`${prefix}metadata`)}: ${prefix}metadata.name: Required value: name is needed for the pod`,
      );
    }
    const pod = applyStaticRules({ pod: defaultPod(decoded), origin: input.origin, nodeName: input.nodeName });
    assertUsable({ pod, manifest, prefix, refuseApiReferences: input.refuseApiReferences ?? true });
    return pod;
  });
  return { pods, warnings: manifest.warnings };
}

/**
 * Makes a defaulted pod a static pod of this node. The UID is a hash of what the pod says (in whatever order and format), of the node and of the place;
 * a UID that the manifest gives is kept.
 */
export function applyStaticRules(input: {
  readonly pod: Pod;
  readonly origin: StaticPodOrigin;
  readonly nodeName: string;
}): Pod {
  const { pod, origin, nodeName } = input;
  const uid = pod.metadata?.uid || staticPodUid(input);
  const tolerations = pod.spec?.tolerations ?? [];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid,
      name: `${pod.metadata?.name ?? ""}-${nodeName.toLowerCase()}`,
      namespace: pod.metadata?.namespace || "default",
      annotations: { ...pod.metadata?.annotations, [CONFIG_HASH]: uid },
    },
    spec: {
      ...pod.spec,
      containers: pod.spec?.containers ?? [],
      nodeName,
      ...(origin.kind === "file" && { tolerations: withToleration(tolerations) }),
    },
    status: { ...pod.status, phase: "Pending" },
  };
}

/** 32 hexadecimal digits that stay the same as long as pod, node and place do. */
function staticPodUid(input: {
  readonly pod: Pod;
  readonly origin: StaticPodOrigin;
  readonly nodeName: string;
}): string {
  const { pod, origin, nodeName } = input;
  const place = origin.kind === "file" ? `host:${nodeName}file:${origin.location}` : `url:${origin.location}`;
  return fnv128a(stableText(pod) + place);
}

/** JSON with the members of every object in order of their names, so that equal data has equal text. */
function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(",")}]`;
  if (typeof value !== "object" || value === null) return stringifyJson(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${stringifyJson(key)}:${stableText(member)}`).join(",")}}`;
}

/** Static pods are not driven from the node by its troubles: they tolerate every NoExecute taint. */
function withToleration(tolerations: readonly Toleration[]): Toleration[] {
  const everything: Toleration = { operator: "Exists", effect: "NoExecute" };
  const isSame = (toleration: Toleration): boolean =>
    !toleration.key && !toleration.value && toleration.operator === "Exists" && toleration.effect === "NoExecute";
  return tolerations.some(isSame)
    ? tolerations.map((toleration) => (isSame(toleration) ? everything : toleration))
    : [...tolerations, everything];
}

function assertUsable(input: {
  readonly pod: Pod;
  readonly manifest: DecodedManifest;
  readonly prefix: string;
  readonly refuseApiReferences: boolean;
}): void {
  const { pod, manifest, prefix } = input;
  const faults = [...validateGivenUid(pod.metadata?.uid ?? ""), ...validatePod(pod)].map(
    (problem) => `${manifest.locate(`${prefix}${problem.path}`)}: ${formatProblem(problem)}`,
  );
  if (input.refuseApiReferences) {
    for (const reference of findApiReferences(pod)) {
      faults.push(
        `${manifest.locate(`${prefix}${reference.path}`)}: ${reference.path}: static pods may not reference ${reference.resource}`,
      );
    }
  }
  if (faults.length > 0) throw new NodeletError("invalid", `invalid pod: ${faults.join("; ")}`);
}
