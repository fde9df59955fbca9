import type { ContainerConfig, CriContainerStatus, LinuxContainerSecurityContext, SandboxConfig } from "@nodelet/core";
import type { RuntimeFixture } from "./runtime-fixture.ts";

/** What a test asks of a pod's sandbox. */
export interface PodOptions {
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly hostNetwork?: boolean;
}

/** What a test asks of a container. */
export interface ContainerOptions {
  readonly name?: string;
  readonly attempt?: number;
  readonly command?: readonly string[];
  readonly image?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

let podCount = 0;

/** One pod of a test: its configuration, and shorthands for the calls that make it. */
export class ContractPod {
  readonly name: string;
  readonly uid: string;
  readonly #fixture: RuntimeFixture;
  readonly #logDirectory: string;
  readonly #made = new Set<string>();

  private constructor(fixture: RuntimeFixture, made: { readonly name: string; readonly logDirectory: string }) {
    this.#fixture = fixture;
    this.name = made.name;
    this.uid = `${made.name}-uid`;
    this.#logDirectory = made.logDirectory;
  }

  /** A pod with a name of its own; nothing of it is in the runtime yet. */
  static async make(fixture: RuntimeFixture): Promise<ContractPod> {
    podCount += 1;
    const name = `${fixture.uniquePrefix}-${podCount}`;
    return new ContractPod(fixture, { name, logDirectory: await fixture.makeLogDirectory(name) });
  }

  sandboxConfig(options: PodOptions = {}): SandboxConfig {
    const { attempt = 0, labels = {}, hostNetwork = false } = options;
    const { linux } = this.#fixture;
    const namespaceOptions = { pid: "CONTAINER" as const, network: hostNetwork ? ("NODE" as const) : ("POD" as const) };
    return {
      metadata: { name: this.name, uid: this.uid, namespace: "contract", attempt },
      ...(hostNetwork ? {} : { hostname: this.name }),
      logDirectory: this.#logDirectory,
      labels: { "io.kubernetes.pod.uid": this.uid, ...labels },
      annotations: { "example.com/note": "a = b, c" },
      linux: { ...linux, securityContext: { ...linux?.securityContext, namespaceOptions } },
    };
  }

  async run(options: PodOptions = {}): Promise<string> {
    const config = this.sandboxConfig(options);
    const sandboxId = await this.#fixture.runtime.runSandbox({ config, runtimeHandler: "" });
    this.#made.add(sandboxId);
    return sandboxId;
  }

  containerConfig(options: ContainerOptions = {}): ContainerConfig {
    const { name = "app", attempt = 0, command = this.#fixture.commands.obeysStop, labels = {} } = options;
    const securityContext: LinuxContainerSecurityContext = { namespaceOptions: { pid: "CONTAINER", network: "POD" } };
    return {
      metadata: { name, attempt },
      image: { image: options.image ?? this.#fixture.presentImage },
      command,
      labels: { "io.kubernetes.pod.uid": this.uid, "io.kubernetes.container.name": name, ...labels },
      annotations: { "io.kubernetes.container.restartCount": String(attempt) },
      logPath: `${name}_${attempt}.log`,
      linux: { securityContext },
    };
  }

  async create(sandboxId: string, options: ContainerOptions = {}): Promise<string> {
    return this.#fixture.runtime.createContainer({
      sandboxId,
      config: this.containerConfig(options),
      sandboxConfig: this.sandboxConfig(),
    });
  }

  /** Creates and starts a container. */
  async start(sandboxId: string, options: ContainerOptions = {}): Promise<string> {
    const containerId = await this.create(sandboxId, options);
    await this.#fixture.runtime.startContainer({ containerId });
    return containerId;
  }

  /** The container's status once it exited. */
  async exited(containerId: string): Promise<CriContainerStatus> {
    const { runtime, waitFor } = this.#fixture;
    await waitFor(async () => (await runtime.containerStatus({ containerId })).state === "CONTAINER_EXITED");
    return runtime.containerStatus({ containerId });
  }

  /** Takes everything of the pod out of the runtime. */
  async remove(): Promise<void> {
    const { runtime } = this.#fixture;
    const left = await runtime.listSandboxes({ labels: { "io.kubernetes.pod.uid": this.uid } });
    for (const sandboxId of new Set([...this.#made, ...left.map(({ id }) => id)])) {
      await runtime.stopSandbox({ sandboxId });
      await runtime.removeSandbox({ sandboxId });
    }
  }
}

/** Runs a test with a pod that is taken out of the runtime afterwards, whatever came of it. */
export function withPod(
  test: (pod: ContractPod, fixture: RuntimeFixture) => Promise<void>,
): (fixture: RuntimeFixture) => Promise<void> {
  return async (fixture) => {
    const pod = await ContractPod.make(fixture);
    try {
      await test(pod, fixture);
    } finally {
      await pod.remove();
    }
  };
}
