import { type CriAdapter, createCriAdapter } from "@nodelet/cri-adapter";
import { SystemClock } from "@nodelet/host-adapter";

/**
 * Sees from outside what happens to pods, by the runtime's own event stream: no polling, which would take from the two sides that are
 * compared. Needs a runtime with container events.
 */
export class RuntimeWatch {
  readonly #adapter: CriAdapter;
  readonly #stop = new AbortController();
  readonly #containers = new Set<string>();
  readonly #sandboxes = new Set<string>();
  #startedAtMs = 0;
  #goneAtMs = 0;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(options: { readonly endpoint: string }) {
    this.#adapter = createCriAdapter({ runtimeEndpoint: options.endpoint, clock: new SystemClock() });
  }

  /** Begins to watch. Events that come later count. */
  async open(): Promise<void> {
    const { containerEvents } = await this.#adapter.runtime.capabilities();
    if (!containerEvents) throw new Error("this runtime has no container events; the bench needs containerd 2");
    void this.#watch();
    // Two answers on the connection: the stream, which was asked for before them, is open.
    await this.#adapter.runtime.version();
    await this.#adapter.runtime.version();
  }

  /** When the last of so many running containers started, on the clock of `performance.now()`. */
  async started(count: number): Promise<number> {
    while (this.#containers.size < count) await this.#change();
    return this.#startedAtMs;
  }

  /** When the last sandbox was removed. Asks the runtime, too: an event may be lost. */
  async gone(): Promise<number> {
    while (this.#sandboxes.size > 0) await this.#change();
    const left = await this.#adapter.runtime.listSandboxes();
    if (left.length > 0)
      throw new Error(`${left.length} sandboxes are left although the runtime told that they were removed`);
    return this.#goneAtMs;
  }

  close(): void {
    this.#stop.abort();
    this.#adapter.close();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const event of this.#adapter.runtimeClient.getContainerEvents({}, { timeoutMs: 0, signal })) {
        const id = event.containerId;
        const sandboxId = event.podSandboxStatus?.id;
        // The numbers of ContainerEventType: 1 started, 3 deleted.
        if (event.containerEventType === 1 && sandboxId !== undefined) {
          if (id === sandboxId) this.#sandboxes.add(id);
          else this.#containers.add(id);
          this.#startedAtMs = performance.now();
        }
        if (event.containerEventType === 3) {
          this.#containers.delete(id);
          if (this.#sandboxes.delete(id)) this.#goneAtMs = performance.now();
        }
        this.#wake();
      }
    } catch (error) {
      if (!signal.aborted) this.#failure = new Error("the runtime's event stream broke", { cause: error });
    }
    this.#wake();
  }

  /** The next event; rejects when no more can come. */
  async #change(): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#assertOpen();
    await changed;
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
