import type { Container, EphemeralContainer, Pod, Volume } from "../api/index.ts";
import { type AdmissionHandler, reject } from "./admission.ts";

/** Something that a pod may ask for and that this version does not do. */
interface UnbuiltFeature {
  /** Paths of the fields that ask for it, empty when the pod does not. */
  readonly find: (pod: Pod) => readonly string[];
}

/**
 * What this version does not do yet, one row a feature: whoever builds a feature deletes its row. A pod that asks for one of these is refused
 * as a whole, since a pod without its probes, hooks or volumes is another pod than the one that was asked for.
 */
const UNBUILT: readonly UnbuiltFeature[] = [
  volume("awsElasticBlockStore"),
  volume("azureDisk"),
  volume("azureFile"),
  volume("cephfs"),
  volume("cinder"),
  volume("configMap"),
  volume("csi"),
  volume("downwardAPI"),
  volume("emptyDir"),
  volume("ephemeral"),
  volume("fc"),
  volume("flexVolume"),
  volume("flocker"),
  volume("gcePersistentDisk"),
  volume("gitRepo"),
  volume("glusterfs"),
  volume("hostPath"),
  volume("image"),
  volume("iscsi"),
  volume("nfs"),
  volume("persistentVolumeClaim"),
  volume("photonPersistentDisk"),
  volume("portworxVolume"),
  volume("projected"),
  volume("quobyte"),
  volume("rbd"),
  volume("scaleIO"),
  volume("secret"),
  volume("storageos"),
  volume("vsphereVolume"),
  container("volumeDevices", ({ volumeDevices = [] }) => volumeDevices.length > 0),
  container("livenessProbe", ({ livenessProbe }) => livenessProbe !== undefined),
  container("readinessProbe", ({ readinessProbe }) => readinessProbe !== undefined),
  container("startupProbe", ({ startupProbe }) => startupProbe !== undefined),
  container("lifecycle.postStart", ({ lifecycle }) => lifecycle?.postStart !== undefined),
  container("lifecycle.preStop", ({ lifecycle }) => lifecycle?.preStop !== undefined),
  container("restartPolicyRules", ({ restartPolicyRules = [] }) =>
    restartPolicyRules.some((rule) => rule.action === "RestartAllContainers"),
  ),
  container("resources.claims", ({ resources }) => (resources?.claims ?? []).length > 0),
  spec("resourceClaims", (pod) => (pod.spec?.resourceClaims ?? []).length > 0),
  spec("hostUsers", (pod) => pod.spec?.hostUsers === false),
  spec("imagePullSecrets", (pod) => (pod.spec?.imagePullSecrets ?? []).length > 0),
];

/** Paths of all fields of the pod that ask for something this version does not do. */
export function findUnbuilt(pod: Pod): string[] {
  return UNBUILT.flatMap((feature) => feature.find(pod));
}

/** Refuses pods that this version could only run in part. The last handler: what upstream would refuse has upstream's reason. */
export const notBuiltYetHandler: AdmissionHandler = {
  name: "notBuiltYet",
  judge: ({ pod, node }) => {
    // Where the runtime cannot make user namespaces either, its sandbox fails in the kubelet's own words.
    const fields = findUnbuilt(pod).filter((field) => field !== "spec.hostUsers" || node.userNamespaces);
    if (fields.length === 0) return undefined;
    return reject(
      "PodFeatureUnsupported",
      `Pod asks for what this version of nodelet does not do yet: ${fields.join(", ")}`,
    );
  },
};

function volume(source: Exclude<keyof Volume, "name">): UnbuiltFeature {
  return {
    find: (pod) =>
      (pod.spec?.volumes ?? []).flatMap((entry, index) =>
        entry[source] === undefined ? [] : [`spec.volumes[${index}].${source}`],
      ),
  };
}

function container(field: string, asks: (container: Container | EphemeralContainer) => boolean): UnbuiltFeature {
  return {
    find: (pod) =>
      (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
        (pod.spec?.[list] ?? []).flatMap((entry, index) => (asks(entry) ? [`spec.${list}[${index}].${field}`] : [])),
      ),
  };
}

function spec(field: string, asks: (pod: Pod) => boolean): UnbuiltFeature {
  return { find: (pod) => (asks(pod) ? [`spec.${field}`] : []) };
}
