import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openGrpcChannel, readFields } from "./containerd/grpc-channel.ts";
import type { Containerd } from "./containerd/start-containerd.ts";

/** A pod started by three raw CRI calls, for the tests of this package. */
export interface RawPod {
  sandboxId: string;
  containerId: string;
  /** From the first call to the answer of the last, ms. */
  startMs: number;
  logPath: string;
}

type Field = readonly [number, string | Uint8Array | readonly Field[]];

/** Encodes length-delimited fields of a protobuf message. */
function encode(fields: readonly Field[]): Buffer {
  const parts = fields.map(([field, value]) => {
    const bytes = typeof value === "string" || value instanceof Uint8Array ? Buffer.from(value) : encode(value);
    return Buffer.concat([encodeVarint(field * 8 + 2), encodeVarint(bytes.length), bytes]);
  });
  return Buffer.concat(parts);
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) {
      return Buffer.from(bytes);
    }
  }
}

/** Starts a pod with one container (field numbers of CRI v1: PodSandboxConfig, ContainerConfig). */
export async function startRawPod(
  node: Containerd,
  pod: { uid: string; image: string; command: readonly string[]; logDir: string; cgroupParent?: string },
): Promise<RawPod> {
  await mkdir(pod.logDir, { recursive: true });
  const channel = openGrpcChannel({ socketPath: node.socketPath, timeoutMs: 60_000 });
  try {
    const cgroupParent = pod.cgroupParent ?? `/${node.cgroupRoot}/pod${pod.uid}`;
    const sandboxConfig: readonly Field[] = [
      [
        1,
        [
          [1, `pod-${pod.uid}`],
          [2, pod.uid],
          [3, "default"],
        ],
      ],
      [2, "raw-pod"],
      [3, pod.logDir],
      [8, [[1, cgroupParent]]],
    ];
    const start = performance.now();
    const sandboxId = await readId(channel.call("RuntimeService/RunPodSandbox", encode([[1, sandboxConfig]])));
    const containerConfig: readonly Field[] = [
      [1, [[1, "main"]]],
      [2, [[1, pod.image]]],
      ...pod.command.map((word) => [3, word] as const),
      [11, "main.log"],
    ];
    const create = encode([
      [1, sandboxId],
      [2, containerConfig],
      [3, sandboxConfig],
    ]);
    const containerId = await readId(channel.call("RuntimeService/CreateContainer", create));
    await channel.call("RuntimeService/StartContainer", encode([[1, containerId]]));
    return { sandboxId, containerId, startMs: performance.now() - start, logPath: join(pod.logDir, "main.log") };
  } finally {
    channel.close();
  }
}

/** Stops and removes the pod as an agent would, the container with no grace. */
export async function removeRawPod(node: Containerd, pod: RawPod): Promise<void> {
  const channel = openGrpcChannel({ socketPath: node.socketPath, timeoutMs: 60_000 });
  try {
    await channel.call("RuntimeService/StopContainer", encode([[1, pod.containerId]]));
    await channel.call("RuntimeService/StopPodSandbox", encode([[1, pod.sandboxId]]));
    await channel.call("RuntimeService/RemovePodSandbox", encode([[1, pod.sandboxId]]));
  } finally {
    channel.close();
  }
}

/** The pod's address, out of PodSandboxStatus (status 1, network 5, ip 1). */
export async function readPodIp(node: Containerd, pod: RawPod): Promise<string> {
  const channel = openGrpcChannel({ socketPath: node.socketPath, timeoutMs: 60_000 });
  try {
    const answer = await channel.call("RuntimeService/PodSandboxStatus", encode([[1, pod.sandboxId]]));
    const pick = (bytes: Buffer, wanted: number): Buffer =>
      readFields(bytes).find(({ field }) => field === wanted)?.bytes ?? Buffer.alloc(0);
    return pick(pick(pick(answer, 1), 5), 1).toString();
  } finally {
    channel.close();
  }
}

async function readId(answer: Promise<Buffer>): Promise<string> {
  return (
    readFields(await answer)
      .find(({ field }) => field === 1)
      ?.bytes.toString() ?? ""
  );
}

/** Pulls an image by CRI (image 1, auth 2 with username 1 and password 2) and resolves with its id. */
export async function pullImage(
  node: Containerd,
  image: { name: string; auth?: { username: string; password: string } },
): Promise<string> {
  const channel = openGrpcChannel({ socketPath: node.socketPath, timeoutMs: 60_000 });
  const { auth } = image;
  const authField: readonly Field[] =
    auth === undefined
      ? []
      : [
          [
            2,
            [
              [1, auth.username],
              [2, auth.password],
            ],
          ],
        ];
  try {
    return await readId(channel.call("ImageService/PullImage", encode([[1, [[1, image.name]]], ...authField])));
  } finally {
    channel.close();
  }
}
