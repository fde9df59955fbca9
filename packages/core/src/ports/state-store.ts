import type { CallOptions } from "./runtime-service.ts";

/** What was read of a state file. `damaged` was set aside (kept under another name) and reported; the caller rebuilds. */
export type StateRead =
  | { readonly kind: "absent" }
  | { readonly kind: "ok"; readonly value: unknown }
  | { readonly kind: "damaged"; readonly setAside: string; readonly reason: string };

/** nodelet's own small state files: versioned, checksummed, atomic (temporary file, fsync, rename). Values are JSON. */
export interface StateStore {
  read(request: { readonly name: string } & CallOptions): Promise<StateRead>;
  write(request: { readonly name: string; readonly value: unknown } & CallOptions): Promise<void>;
}
