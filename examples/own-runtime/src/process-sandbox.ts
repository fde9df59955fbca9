import type { SandboxConfig, SandboxStatus } from "@nodelet/core";
import { nowNs } from "./now.ts";

/** A pod's sandbox: no namespaces, only a name, an address and a place for logs. */
export class ProcessSandbox {
  readonly id: string;
  readonly config: SandboxConfig;
  readonly #createdAtNs = nowNs();
  readonly #address: string;
  #ready = true;

  constructor(options: { readonly id: string; readonly config: SandboxConfig; readonly address: string }) {
    this.id = options.id;
    this.config = options.config;
    this.#address = options.address;
  }

  get ready(): boolean {
    return this.#ready;
  }

  stop(): void {
    this.#ready = false;
  }

  status(): SandboxStatus {
    const { metadata, labels = {}, annotations = {}, linux } = this.config;
    const network = linux?.securityContext?.namespaceOptions?.network ?? "POD";
    return {
      id: this.id,
      metadata,
      state: this.#ready ? "SANDBOX_READY" : "SANDBOX_NOTREADY",
      createdAtNs: this.#createdAtNs,
      labels,
      annotations,
      runtimeHandler: "",
      ips: this.#ready && network !== "NODE" ? [this.#address] : [],
      namespaceOptions: { network },
    };
  }
}
