import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ContainerEventResponseSchema, ContainerEventType } from "../gen/runtime/v1/api_pb.ts";
import { decodeContainerEvent } from "../mapping/container.ts";
import { trimContainerEvent } from "./trim-event.ts";

const trimmed = (bytes: Uint8Array): Buffer => trimContainerEvent(Buffer.from(bytes));

it("keeps what an event is about, and nothing of the statuses in it", () => {
  const event = create(ContainerEventResponseSchema, {
    containerId: "c",
    containerEventType: ContainerEventType.CONTAINER_STARTED_EVENT,
    createdAt: 1_767_225_600_123_456_789n,
    podSandboxStatus: {
      id: "s",
      metadata: { name: "web", uid: "u".repeat(200), namespace: "default" },
      labels: { a: "b" },
      network: { ip: "10.0.0.1" },
    },
    containersStatuses: [{ id: "c", annotations: { large: "x".repeat(10_000) } }],
  });
  const bytes = toBinary(ContainerEventResponseSchema, event);
  const small = trimmed(bytes);
  expect(small.length).toBeLessThan(300);
  const left = fromBinary(ContainerEventResponseSchema, small);
  expect(decodeContainerEvent(left)).toEqual(decodeContainerEvent(event));
  expect(left.podSandboxStatus?.id).toBe("s");
  expect(left.podSandboxStatus?.labels).toEqual({});
  expect(left.containersStatuses).toEqual([]);
});

it("takes an event without statuses as it is", () => {
  const event = create(ContainerEventResponseSchema, { containerId: "c", createdAt: 5n });
  const bytes = toBinary(ContainerEventResponseSchema, event);
  expect(trimmed(bytes)).toEqual(Buffer.from(bytes));
});
