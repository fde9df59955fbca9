import { openGrpcChannel, readFields } from "./grpc-channel.ts";

/** The CRI questions by which this package learns what a runtime is, when it is ready, and what is in it. */
export interface CriProbe {
  /** Name and version of the runtime: "containerd", "1.6.20~ds1". */
  readVersion(): Promise<{ name: string; version: string }>;
  /** The conditions of RuntimeService.Status by type: "RuntimeReady", "NetworkReady". */
  readConditions(): Promise<Map<string, boolean>>;
  /** Tags of every image that ImageService.ListImages shows. */
  listImageTags(): Promise<string[]>;
  close(): void;
}

/** Opens a probe of a CRI endpoint. `timeoutMs` bounds each question. Message layouts: CRI v1, runtime/v1/api.proto. */
export function openCriProbe(options: { socketPath: string; timeoutMs: number }): CriProbe {
  const channel = openGrpcChannel(options);
  return {
    async readVersion() {
      const answer = readFields(await channel.call("RuntimeService/Version"));
      const read = (wanted: number): string => answer.find(({ field }) => field === wanted)?.bytes.toString() ?? "";
      return { name: read(2), version: read(3) };
    },
    async readConditions() {
      const answer = readFields(await channel.call("RuntimeService/Status"));
      const status = answer.find(({ field }) => field === 1)?.bytes ?? Buffer.alloc(0);
      const conditions = readFields(status).filter(({ field }) => field === 1);
      return new Map(
        conditions.map(({ bytes }) => {
          const fields = readFields(bytes);
          const type = fields.find(({ field }) => field === 1)?.bytes.toString() ?? "";
          return [type, fields.some(({ field, varint }) => field === 2 && varint === 1)] as const;
        }),
      );
    },
    async listImageTags() {
      const answer = readFields(await channel.call("ImageService/ListImages"));
      const images = answer.filter(({ field }) => field === 1);
      return images.flatMap(({ bytes }) =>
        readFields(bytes)
          .filter(({ field }) => field === 2)
          .map((tag) => tag.bytes.toString()),
      );
    },
    close: () => channel.close(),
  };
}
