import { NodeletError } from "@nodelet/core";

/** Addresses that sandboxes get. */
export interface IpPoolOptions {
  /** How many sandboxes may have an address at once, at most 65,000. */
  readonly size?: number;
  /** Whether each sandbox also gets an IPv6 address, after its IPv4 address. */
  readonly dualStack?: boolean;
}

const MAX_SIZE = 65_000;

/**
 * Pod addresses 10.244.x.y, and fd00:10:244::x:y when dual-stack. Like the host-local IPAM plugin it hands out the next address after the
 * last one, so that one that was freed comes round late.
 */
export class IpPool {
  readonly #size: number;
  readonly #dualStack: boolean;
  readonly #taken = new Set<number>();
  #next = 0;

  constructor(options: IpPoolOptions = {}) {
    this.#size = Math.min(options.size ?? MAX_SIZE, MAX_SIZE);
    this.#dualStack = options.dualStack ?? false;
  }

  /** Addresses in use. */
  get taken(): number {
    return this.#taken.size;
  }

  /** Takes one slot; `internal` with the plugin's words when all are taken. */
  take(): { readonly slot: number; readonly ips: readonly string[] } {
    if (this.#taken.size >= this.#size) {
      throw new NodeletError("internal", "no IP addresses available in range set: 10.244.0.2-10.244.255.254");
    }
    while (this.#taken.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const slot = this.#next;
    this.#taken.add(slot);
    this.#next = (slot + 1) % this.#size;
    const host = slot + 2;
    const ipv4 = `10.244.${host >> 8}.${host & 0xff}`;
    return { slot, ips: this.#dualStack ? [ipv4, `fd00:10:244::${host.toString(16)}`] : [ipv4] };
  }

  free(slot: number): void {
    this.#taken.delete(slot);
  }
}
