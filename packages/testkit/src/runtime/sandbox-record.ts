import type { SandboxConfig, SandboxMetadata, SandboxState, SandboxStatus, SandboxSummary } from "@nodelet/core";

/** A sandbox as the in-memory runtime keeps it. */
export class SandboxRecord {
  readonly id: string;
  readonly config: SandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAtNs: bigint;
  /** Ids of its containers. */
  readonly containers = new Set<string>();
  /** Its slot in the address pool; undefined on the host network and once its network is torn down. */
  ipSlot: number | undefined;
  #state: SandboxState = "SANDBOX_READY";
  #ips: readonly string[] = [];
  #summary: SandboxSummary | undefined;

  constructor(made: {
    readonly id: string;
    readonly config: SandboxConfig;
    readonly runtimeHandler: string;
    readonly createdAtNs: bigint;
  }) {
    this.id = made.id;
    this.config = made.config;
    this.runtimeHandler = made.runtimeHandler;
    this.createdAtNs = made.createdAtNs;
  }

  get state(): SandboxState {
    return this.#state;
  }

  get hostNetwork(): boolean {
    return this.config.linux?.securityContext?.namespaceOptions?.network === "NODE";
  }

  /** Gives or takes its addresses. */
  setNetwork(network: { readonly slot: number | undefined; readonly ips: readonly string[] }): void {
    this.ipSlot = network.slot;
    this.#ips = network.ips;
  }

  setState(state: SandboxState): void {
    this.#state = state;
    this.#summary = undefined;
  }

  /** A row of a list; the same object until something changes. */
  summary(): SandboxSummary {
    this.#summary ??= {
      id: this.id,
      metadata: this.config.metadata,
      state: this.#state,
      createdAtNs: this.createdAtNs,
      labels: this.config.labels ?? {},
      annotations: this.config.annotations ?? {},
      runtimeHandler: this.runtimeHandler,
    };
    return this.#summary;
  }

  status(): SandboxStatus {
    const namespaceOptions = this.config.linux?.securityContext?.namespaceOptions;
    return { ...this.summary(), ips: this.#ips, ...(namespaceOptions === undefined ? {} : { namespaceOptions }) };
  }
}

/** The name under which containerd reserves a sandbox. */
export function sandboxName(metadata: SandboxMetadata): string {
  return [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join("_");
}
