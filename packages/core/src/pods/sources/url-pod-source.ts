import { delay } from "../../async/delay.ts";
import type { DecisionSink } from "../../decisions/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HttpAnswer, HttpFetch } from "../../ports/http-fetch.ts";
import type { Logger } from "../../ports/logger.ts";
import type { PodSetListener, PodSource, PodSourceRun } from "../../ports/pod-source.ts";
import { MAX_MANIFEST_BYTES } from "../manifest/index.ts";
import { decodeStaticPods } from "../static-pods.ts";

/** What a URL source needs. */
export interface UrlPodSourceOptions {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly url: string;
  /** Headers of each request (--manifest-url-header), several of one name allowed. May be secret: never told. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly nodeName: string;
  readonly httpCheckFrequencyMs: number;
  /** Gate PreventStaticPodAPIReferences. Default true. */
  readonly refuseApiReferences?: boolean;
}

const TIMEOUT_MS = 10_000;
/** Failures in a row that are told aloud. */
const LOUD_FAILURES = 3;

/**
 * Static pods from a URL (--manifest-url): one GET every httpCheckFrequency; a Pod or a PodList. Only an answer 200 counts; an empty one wants
 * no pods. On any failure the last set stands.
 */
export class UrlPodSource implements PodSource {
  readonly name = "http";
  readonly #options: UrlPodSourceOptions;
  #body: Uint8Array | undefined;
  #failures = 0;

  constructor(options: UrlPodSourceOptions) {
    this.#options = options;
  }

  async run({ onPods, decisions, signal }: PodSourceRun): Promise<void> {
    do {
      try {
        await this.#check({ onPods, signal });
        if (this.#failures > 0)
          this.#options.logger.info("Successfully read pods from URL", { url: shownUrl(this.#options.url) });
        this.#failures = 0;
      } catch (error) {
        if (!signal.aborted) this.#reportFailure(NodeletError.from(error), decisions);
      }
    } while (await delay(this.#options.clock, Math.max(1, this.#options.httpCheckFrequencyMs), signal));
  }

  async #check({ onPods, signal }: { readonly onPods: PodSetListener; readonly signal: AbortSignal }): Promise<void> {
    const { fetch, url, headers, nodeName, refuseApiReferences = true, logger } = this.#options;
    const answer: HttpAnswer = await fetch.get({
      url,
      headers,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_MANIFEST_BYTES,
      signal,
    });
    if (answer.status !== 200)
      throw new NodeletError("unavailable", `${shownUrl(url)}: ${answer.status} ${answer.statusText}`);
    if (answer.body.length === 0) {
      this.#body = undefined;
      onPods([]);
      throw new NodeletError("invalid", `zero-length data received from ${shownUrl(url)}`);
    }
    if (this.#body !== undefined && sameBytes(this.#body, answer.body)) return;
    const { pods, warnings } = decodeStaticPods({
      bytes: answer.body,
      origin: { kind: "url", location: url },
      nodeName,
      refuseApiReferences,
    });
    for (const warning of warnings)
      logger.warn("Parts of the manifest are ignored", { warning: withoutSecrets(warning, url) });
    this.#body = answer.body;
    onPods(pods);
  }

  /** Told aloud a few times, then only to those who look closely: a server may be away for days. */
  #reportFailure(error: NodeletError, decisions: DecisionSink): void {
    const { logger, url } = this.#options;
    this.#failures += 1;
    const message = `Failed to read pods from URL: ${withoutSecrets(error.message, url)}`;
    if (this.#failures <= LOUD_FAILURES) {
      decisions.record({
        action: "ignore",
        reason: "FailedManifest",
        message,
        outcome: "failed",
        inputs: { url: shownUrl(url) },
        isNews: this.#failures === 1,
      });
    } else {
      logger.debug(4, message, { url: shownUrl(url), failures: this.#failures });
    }
  }
}

/** The URL without what may be secret: user, password, query. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "(not a URL)";
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  shown.search = "";
  return shown.href;
}

function withoutSecrets(message: string, url: string): string {
  return message.replaceAll(url, shownUrl(url));
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}
