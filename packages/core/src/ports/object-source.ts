import type { CallOptions } from "./runtime-service.ts";

/** Data of a config map or a secret, decoded: a key's bytes as text, since they become environment variables. */
export interface KeyedObject {
  readonly name: string;
  readonly namespace: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A service as far as environment variables need it. */
export interface ServiceSummary {
  readonly namespace: string;
  readonly name: string;
  readonly clusterIp: string;
  readonly ports: readonly { readonly name?: string; readonly port: number; readonly protocol: string }[];
}

/** A RuntimeClass as far as a node needs it (KEP-585, KEP-688). */
export interface RuntimeClassSummary {
  readonly name: string;
  readonly handler: string;
}

/** Objects that pods refer to, by reference. Absent objects are undefined; a source that cannot answer now throws `unavailable`. */
export interface ObjectSource {
  configMap(
    request: { readonly namespace: string; readonly name: string } & CallOptions,
  ): Promise<KeyedObject | undefined>;
  secret(
    request: { readonly namespace: string; readonly name: string } & CallOptions,
  ): Promise<KeyedObject | undefined>;
  services(options?: CallOptions): Promise<readonly ServiceSummary[]>;
  runtimeClass(request: { readonly name: string } & CallOptions): Promise<RuntimeClassSummary | undefined>;
}
