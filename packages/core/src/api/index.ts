/** Kubernetes objects: their types, their schema, quantities, and what follows from a pod's spec alone. */
export type * as appsV1 from "./gen/apps-v1.ts";
export type * as authenticationV1 from "./gen/authentication-v1.ts";
export type * as authorizationV1 from "./gen/authorization-v1.ts";
export type * as autoscalingV1 from "./gen/autoscaling-v1.ts";
export type * as batchV1 from "./gen/batch-v1.ts";
export type * as certificatesV1 from "./gen/certificates-v1.ts";
export type * as certificatesV1alpha1 from "./gen/certificates-v1alpha1.ts";
export type * as certificatesV1beta1 from "./gen/certificates-v1beta1.ts";
export type * as coordinationV1 from "./gen/coordination-v1.ts";
export type * from "./gen/core-v1.ts";
export type * as discoveryV1 from "./gen/discovery-v1.ts";
export type * as eventsV1 from "./gen/events-v1.ts";
export type * from "./gen/meta-v1.ts";
export type * as nodeV1 from "./gen/node-v1.ts";
export { podSchema } from "./gen/pod-schema.ts";
export type * as policyV1 from "./gen/policy-v1.ts";
export type * as rbacV1 from "./gen/rbac-v1.ts";
export type * as resourceV1 from "./gen/resource-v1.ts";
export type * from "./gen/scalars.ts";
export type * as schedulingV1 from "./gen/scheduling-v1.ts";
export type * as storageV1 from "./gen/storage-v1.ts";
export { int64ToBigInt, int64ToNumber } from "./int64.ts";
export { type ParseJsonOptions, parseJson, type StringifyJsonOptions, stringifyJson } from "./json.ts";
export {
  hasPodLevelResources,
  isPodLevelResource,
  type PodResourceOptions,
  podLevel,
  podLimits,
  podRequests,
} from "./pod-resources.ts";
export {
  findCondition,
  findContainer,
  findContainerStatus,
  formatPod,
  isHostNetworkPod,
  isSidecar,
  isTerminalPhase,
  type PodContainer,
  type PodContainerKind,
  podContainers,
} from "./pods.ts";
export { computeQosClass, type QosClass, qosClassOf } from "./qos.ts";
export { Amount, canonicalQuantity, type QuantityFormat } from "./quantity.ts";
export {
  formatResourceList,
  maxResources,
  parseResourceList,
  type ResourceAmounts,
  sumResources,
} from "./resource-lists.ts";
export type { FieldSchema, FieldType, ObjectSchema, SchemaSet } from "./schema.ts";
export {
  type Labels,
  matchesLabelSelector,
  matchesLabels,
  matchesNodeAffinity,
  matchesNodeSelectorTerms,
} from "./selectors.ts";
