import type { CallOptions } from "./runtime-service.ts";

/** A whole answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly body: Uint8Array;
}

/** A GET. */
export interface HttpGetRequest extends CallOptions {
  /** http or https, absolute. */
  readonly url: string;
  /** Several values of one name are sent in order. `Host` replaces the one from the URL. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** From the first byte sent to the last byte received. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Plain HTTP GET for pod lists from a URL (--manifest-url). Follows at most 10 redirects, as Go's client does; sends no credentials but the given headers, and those not to another host.
 * Errors: `invalid` (no such URL or header), `unavailable` (no connection, TLS, broken answer), `deadline`, `cancelled`,
 * `resourceExhausted` (body beyond `maxBytes`). Any status is an answer.
 */
export interface HttpFetch {
  get(request: HttpGetRequest): Promise<HttpAnswer>;
}
