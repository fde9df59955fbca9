import { delay, withDeadline } from "../async/delay.ts";
import { NodeletError } from "../errors/nodelet-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { RuntimeService } from "../ports/runtime-service.ts";
import type { RuntimeHandler, RuntimeStatus, RuntimeVersion } from "../ports/runtime-types.ts";

/** Upstream polls the runtime's status every 5 s and calls it down after 30 s without success. */
const POLL_MS = 5000;
const DOWN_AFTER_MS = 30_000;
/** Until the runtime first answered, ask more often: it may be starting beside us. */
const STARTING_POLL_MS = 250;
/** While it does not answer, so that work that failed meanwhile need not wait when it is back. */
const FAILING_POLL_MS = 1000;

/** What pods need to know of the runtime. */
export interface RuntimeReadiness {
  /** Why pods cannot be handled at all now; empty when they can. */
  readonly runtimeErrors: readonly string[];
  /** Why pods without host network cannot start; undefined when they can. */
  readonly networkError: string | undefined;
}

/** Polls the runtime's Status and remembers whether it, and its network, are ready. */
export class RuntimeMonitor {
  readonly #runtime: RuntimeService;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onTransition: () => void;
  #lastSuccessMs: number | undefined;
  #lastError = "the container runtime has not answered yet";
  #status: RuntimeStatus | undefined;
  #version: RuntimeVersion | undefined;
  /** What was told last; undefined before the runtime was asked. */
  #told: string | undefined;

  constructor(options: {
    readonly runtime: RuntimeService;
    readonly clock: Clock;
    readonly logger: Logger;
    /** Told after each poll: readiness of runtime or network may have changed. */
    readonly onTransition: () => void;
  }) {
    this.#runtime = options.runtime;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#onTransition = options.onTransition;
  }

  /** Name of the runtime for container ids; `unknown` before it answered. */
  get runtimeName(): string {
    return this.#version?.runtimeName ?? "unknown";
  }

  get version(): RuntimeVersion | undefined {
    return this.#version;
  }

  /** Handlers with their features, as last told. */
  get handlers(): readonly RuntimeHandler[] {
    return this.#status?.handlers ?? [];
  }

  get status(): RuntimeStatus | undefined {
    return this.#status;
  }

  /** Whether the last poll was answered. A runtime that is away for a moment counts as ready, but does not answer. */
  get answers(): boolean {
    return this.#lastError === "";
  }

  readiness(): RuntimeReadiness {
    const down = this.#lastSuccessMs === undefined || this.#clock.monotonicMs() - this.#lastSuccessMs > DOWN_AFTER_MS;
    if (down) return { runtimeErrors: [`container runtime is down: ${this.#lastError}`], networkError: undefined };
    const runtime = this.#condition("RuntimeReady");
    const network = this.#condition("NetworkReady");
    return {
      runtimeErrors: runtime === undefined ? [] : [`container runtime not ready: ${runtime}`],
      networkError: network === undefined ? undefined : `container runtime network not ready: ${network}`,
    };
  }

  /** Polls until the signal fires. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#poll(signal);
      await delay(this.#clock, this.#pauseMs(), signal);
    }
  }

  #pauseMs(): number {
    if (this.#lastSuccessMs === undefined) return STARTING_POLL_MS;
    return this.answers ? POLL_MS : FAILING_POLL_MS;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      await withDeadline(
        { clock: this.#clock, timeoutMs: DOWN_AFTER_MS, what: "the container runtime's Status", parent: signal },
        async (call) => {
          this.#version ??= await this.#runtime.version({ signal: call });
          this.#status = await this.#runtime.status({ signal: call });
        },
      );
      this.#lastSuccessMs = this.#clock.monotonicMs();
      this.#lastError = "";
    } catch (error) {
      if (signal.aborted) return;
      this.#lastError = NodeletError.from(error).message;
    }
    this.#tell();
  }

  #tell(): void {
    const { runtimeErrors, networkError } = this.readiness();
    const now = [...runtimeErrors, ...(networkError === undefined ? [] : [networkError])].join("; ");
    const words = this.#lastError === "" ? now : now || this.#lastError;
    if (words !== this.#told) {
      if (words === "")
        this.#logger.info("Container runtime is ready", {
          runtime: this.runtimeName,
          version: this.#version?.runtimeVersion,
        });
      else this.#logger.warn("Container runtime is not ready; trying again", { reason: words });
      this.#told = words;
    }
    this.#onTransition();
  }

  #condition(type: string): string | undefined {
    const condition = this.#status?.conditions.find((candidate) => candidate.type === type);
    if (condition === undefined) return `the runtime does not tell ${type}`;
    return condition.status ? undefined : `${type}=false reason:${condition.reason} message:${condition.message}`;
  }
}
