import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LinuxContainerResources } from "@nodelet/core";
import type {
  LinuxContainerResources as LinuxContainerResourcesMessage,
  LinuxContainerResourcesSchema,
} from "../gen/runtime/v1/api_pb.ts";

/** Resource limits for the wire. Absent and zero mean the same there: unset. */
export function encodeResources(
  resources: LinuxContainerResources,
): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  return {
    cpuPeriod: resources.cpuPeriod,
    cpuQuota: resources.cpuQuota,
    cpuShares: resources.cpuShares,
    memoryLimitInBytes: resources.memoryLimitInBytes,
    oomScoreAdj: resources.oomScoreAdj,
    cpusetCpus: resources.cpusetCpus,
    cpusetMems: resources.cpusetMems,
    hugepageLimits: resources.hugepageLimits?.map(({ pageSize, limit }) => ({ pageSize, limit })),
    unified: resources.unified,
    memorySwapLimitInBytes: resources.memorySwapLimitInBytes,
  };
}

/** Resource limits as the runtime reports them. */
export function decodeResources(message: LinuxContainerResourcesMessage): LinuxContainerResources {
  return {
    cpuPeriod: message.cpuPeriod,
    cpuQuota: message.cpuQuota,
    cpuShares: message.cpuShares,
    memoryLimitInBytes: message.memoryLimitInBytes,
    oomScoreAdj: message.oomScoreAdj,
    cpusetCpus: message.cpusetCpus,
    cpusetMems: message.cpusetMems,
    hugepageLimits: message.hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit })),
    unified: message.unified,
    memorySwapLimitInBytes: message.memorySwapLimitInBytes,
  };
}
