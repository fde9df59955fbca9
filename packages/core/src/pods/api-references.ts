import { type Pod, podContainers, type Volume, type VolumeProjection } from "../api/index.ts";

/** A field that names an object of the API server. */
export interface ApiReference {
  readonly path: string;
  /** Resource in the plural, as upstream's message has it. */
  readonly resource: string;
}

const LISTS = { init: "initContainers", regular: "containers", ephemeral: "ephemeralContainers" } as const;

/** Everything in the pod that a node without an API server could not resolve: such a pod can be no static pod. */
export function findApiReferences(pod: Pod): ApiReference[] {
  const spec = pod.spec;
  const references: ApiReference[] = [];
  if (spec?.serviceAccountName) references.push({ path: "spec.serviceAccountName", resource: "serviceaccounts" });
  for (const [index, secret] of (spec?.imagePullSecrets ?? []).entries()) {
    if (secret.name) references.push({ path: `spec.imagePullSecrets[${index}]`, resource: "secrets" });
  }
  references.push(...containerReferences(pod));
  if ((spec?.resourceClaims ?? []).length > 0)
    references.push({ path: "spec.resourceClaims", resource: "resourceclaims" });
  for (const [index, volume] of (spec?.volumes ?? []).entries()) {
    references.push(
      ...volumeReferences(volume).map(({ path, resource }) => ({ path: `spec.volumes[${index}].${path}`, resource })),
    );
  }
  return references;
}

function* containerReferences(pod: Pod): Generator<ApiReference> {
  const counts = { init: 0, regular: 0, ephemeral: 0 };
  for (const { kind, container } of podContainers(pod)) {
    const path = `spec.${LISTS[kind]}[${counts[kind]++}]`;
    for (const [index, variable] of (container.env ?? []).entries()) {
      const own = `${path}.env[${index}].valueFrom`;
      if (variable.valueFrom?.secretKeyRef !== undefined) yield { path: `${own}.secretKeyRef`, resource: "secrets" };
      if (variable.valueFrom?.configMapKeyRef !== undefined)
        yield { path: `${own}.configMapKeyRef`, resource: "configmaps" };
    }
    for (const [index, source] of (container.envFrom ?? []).entries()) {
      if (source.secretRef !== undefined) yield { path: `${path}.envFrom[${index}].secretRef`, resource: "secrets" };
      if (source.configMapRef !== undefined)
        yield { path: `${path}.envFrom[${index}].configMapRef`, resource: "configmaps" };
    }
  }
}

/** Volume sources that are API objects, or that name one. */
const VOLUME_RESOURCES: readonly { readonly source: keyof Volume; readonly resource: string }[] = [
  { source: "configMap", resource: "configmaps (via configmap volumes)" },
  { source: "secret", resource: "secrets (via secret volumes)" },
  { source: "csi", resource: "csidrivers (via CSI volumes)" },
  { source: "glusterfs", resource: "endpoints (via glusterFS volumes)" },
  { source: "persistentVolumeClaim", resource: "persistentvolumeclaims" },
  { source: "ephemeral", resource: "persistentvolumeclaims (via ephemeral volumes)" },
  { source: "azureFile", resource: "secrets (via azureFile volumes)" },
];

const PROJECTION_RESOURCES: readonly { readonly source: keyof VolumeProjection; readonly resource: string }[] = [
  { source: "configMap", resource: "configmaps (via projected volumes)" },
  { source: "secret", resource: "secrets (via projected volumes)" },
  { source: "serviceAccountToken", resource: "serviceaccounts (via projected volumes)" },
  { source: "clusterTrustBundle", resource: "clustertrustbundles" },
  { source: "podCertificate", resource: "podcertificates" },
];

/** Volume sources of other makers that may carry the name of a secret. */
const WITH_SECRETS = ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"] as const;

function volumeReferences(volume: Volume): ApiReference[] {
  const own = VOLUME_RESOURCES.filter(({ source }) => volume[source] !== undefined).map(({ source, resource }) => ({
    path: source,
    resource,
  }));
  const secrets = WITH_SECRETS.filter((source) => volume[source]?.secretRef?.name).map((source) => ({
    path: `${source}.secretRef`,
    resource: "secrets",
  }));
  const projected = (volume.projected?.sources ?? []).flatMap((projection, index) =>
    PROJECTION_RESOURCES.filter(({ source }) => projection[source] !== undefined).map(({ source, resource }) => ({
      path: `projected.sources[${index}].${source}`,
      resource,
    })),
  );
  return [...own, ...secrets, ...projected];
}
