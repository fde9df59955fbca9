import { create, type MessageShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  ContainerEventResponseSchema,
  ContainerEventType,
  ContainerSchema,
  type ContainerState,
  ContainerStatusSchema,
  ImageSchema,
  PodSandboxSchema,
  type PodSandboxState,
  PodSandboxStatusSchema,
  RuntimeConfigResponseSchema,
  StatusResponseSchema,
  VersionResponseSchema,
} from "../gen/runtime/v1/api_pb.ts";
import {
  decodeCgroupDriver,
  decodeContainer,
  decodeContainerEvent,
  decodeContainerStatus,
  decodeImage,
  decodeSandbox,
  decodeSandboxStatus,
  decodeStatus,
  decodeVersion,
} from "./index.ts";

describe("what the runtime reports", () => {
  const metadata = { name: "n", uid: "u", namespace: "ns", attempt: 2 };

  it("a sandbox", () => {
    const row = create(PodSandboxSchema, {
      id: "s",
      metadata,
      state: 1,
      createdAt: 7n,
      labels: { a: "b" },
      runtimeHandler: "h",
    });
    expect(decodeSandbox(row)).toEqual({
      id: "s",
      metadata,
      state: "SANDBOX_NOTREADY",
      createdAtNs: 7n,
      labels: { a: "b" },
      annotations: {},
      runtimeHandler: "h",
    });
  });

  it.each([
    [undefined, undefined],
    [{ ip: "" }, []],
    [{ ip: "10.0.0.1", additionalIps: [{ ip: "fd00::1" }] }, ["10.0.0.1", "fd00::1"]],
  ])("a sandbox's network %j: addresses %j", (network, ips) => {
    const status = create(PodSandboxStatusSchema, { id: "s", metadata, createdAt: 1n, network });
    expect(decodeSandboxStatus(status).ips).toEqual(ips);
  });

  it("a sandbox's namespaces", () => {
    const status = create(PodSandboxStatusSchema, {
      id: "s",
      metadata,
      createdAt: 1n,
      linux: { namespaces: { options: { network: 2, pid: 1, usernsOptions: { mode: 2 } } } },
    });
    expect(decodeSandboxStatus(status).namespaceOptions).toEqual({
      network: "NODE",
      pid: "CONTAINER",
      ipc: "POD",
      targetId: "",
      usernsOptions: { mode: "NODE", uids: [], gids: [] },
    });
  });

  it("a container", () => {
    const row = create(ContainerSchema, {
      id: "c",
      podSandboxId: "s",
      metadata: { name: "n", attempt: 4 },
      image: { image: "i" },
      imageRef: "r",
      imageId: "d",
      state: 1,
      createdAt: 9n,
    });
    expect(decodeContainer(row)).toMatchObject({
      id: "c",
      sandboxId: "s",
      metadata: { name: "n", attempt: 4 },
      image: { image: "i" },
      imageRef: "r",
      imageId: "d",
      state: "CONTAINER_RUNNING",
      createdAtNs: 9n,
    });
  });

  it("a container's status", () => {
    const status = create(ContainerStatusSchema, {
      id: "c",
      metadata: { name: "n" },
      state: 2,
      createdAt: 1n,
      startedAt: 2n,
      finishedAt: 3n,
      exitCode: 137,
      reason: "OOMKilled",
      message: "m",
      logPath: "/l",
      imageId: "d",
      image: { image: "i" },
      mounts: [{ containerPath: "/c", propagation: 1 }],
      resources: { linux: { cpuShares: 2n } },
      user: { linux: { uid: 1n, gid: 2n, supplementalGroups: [3n] } },
      stopSignal: 23,
    });
    expect(decodeContainerStatus(status)).toMatchObject({
      state: "CONTAINER_EXITED",
      startedAtNs: 2n,
      finishedAtNs: 3n,
      exitCode: 137,
      reason: "OOMKilled",
      message: "m",
      logPath: "/l",
      mounts: [{ containerPath: "/c", propagation: "PROPAGATION_HOST_TO_CONTAINER" }],
      resources: { cpuShares: 2n },
      user: { uid: 1n, gid: 2n, supplementalGroups: [3n] },
      stopSignal: "SIGTERM",
    });
  });

  it("enum values of a later version promise nothing", () => {
    const later: number = 99;
    expect(decodeSandbox(create(PodSandboxSchema, { state: later as PodSandboxState })).state).toBe("SANDBOX_NOTREADY");
    expect(decodeContainer(create(ContainerSchema, { state: later as ContainerState })).state).toBe(
      "CONTAINER_UNKNOWN",
    );
    expect(
      decodeContainerEvent(create(ContainerEventResponseSchema, { containerEventType: later as ContainerEventType })),
    ).toBeUndefined();
  });

  it("an event, with the pod where the runtime told it", () => {
    const event = { containerId: "c", containerEventType: ContainerEventType.CONTAINER_STOPPED_EVENT, createdAt: 5n };
    expect(decodeContainerEvent(create(ContainerEventResponseSchema, event))).toEqual({
      containerId: "c",
      type: "CONTAINER_STOPPED_EVENT",
      createdAtNs: 5n,
      podUid: undefined,
    });
    const withPod = create(ContainerEventResponseSchema, {
      ...event,
      podSandboxStatus: create(PodSandboxStatusSchema, { metadata }),
    });
    expect(decodeContainerEvent(withPod)?.podUid).toBe("u");
  });

  it("an image, whose user is a number, a name or neither", () => {
    const image = (init: Partial<MessageShape<typeof ImageSchema>>) =>
      decodeImage(create(ImageSchema, { id: "i", size: 5n, ...init } as never));
    expect(image({ repoTags: ["t"], repoDigests: ["d"], pinned: true })).toEqual({
      id: "i",
      repoTags: ["t"],
      repoDigests: ["d"],
      sizeBytes: 5n,
      uid: undefined,
      username: undefined,
      pinned: true,
    });
    expect(image({ uid: { value: 0n } as never }).uid).toBe(0n);
    expect(image({ username: "www" }).username).toBe("www");
  });

  it("the runtime's conditions and features", () => {
    const conditions = [
      { type: "RuntimeReady", status: true },
      { type: "NetworkReady", status: false, reason: "NetworkPluginNotReady", message: "cni plugin not initialized" },
    ];
    const status = create(StatusResponseSchema, {
      status: { conditions },
      runtimeHandlers: [{ name: "", features: { userNamespaces: true } }, { name: "runsc" }],
      features: { supplementalGroupsPolicy: true },
    });
    expect(decodeStatus(status)).toEqual({
      conditions: [{ type: "RuntimeReady", status: true, reason: "", message: "" }, conditions[1]],
      handlers: [
        { name: "", recursiveReadOnlyMounts: false, userNamespaces: true },
        { name: "runsc", recursiveReadOnlyMounts: false, userNamespaces: false },
      ],
      supplementalGroupsPolicy: true,
      userNamespacesHostNetwork: false,
    });
    expect(decodeCgroupDriver(create(RuntimeConfigResponseSchema, { linux: { cgroupDriver: 0 } }))).toBe("systemd");
    expect(decodeCgroupDriver(create(RuntimeConfigResponseSchema, { linux: { cgroupDriver: 1 } }))).toBe("cgroupfs");
    expect(decodeCgroupDriver(create(RuntimeConfigResponseSchema))).toBeUndefined();
  });

  it.each([
    [
      () => decodeSandboxStatus(create(PodSandboxStatusSchema, { id: "s", metadata: { name: "n" } })),
      /status of sandbox s lacks/,
    ],
    [
      () => decodeContainerStatus(create(ContainerStatusSchema, { id: "c", createdAt: 1n })),
      /status of container c lacks/,
    ],
    [
      () => decodeStatus(create(StatusResponseSchema, { status: { conditions: [{ type: "RuntimeReady" }] } })),
      /lacks the condition NetworkReady/,
    ],
    [
      () => decodeVersion(create(VersionResponseSchema, { version: "0.1.0", runtimeName: "x" })),
      /lacks runtimeVersion, runtimeApiVersion/,
    ],
  ])("an answer that lacks what every one must have is refused (%#)", (decode, message) => {
    expect(decode).toThrow(message);
  });
});
