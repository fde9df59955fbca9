import { NodeletError, type SandboxConfig } from "@nodelet/core";
import { killContainer, releaseContainer } from "./container-operations.ts";
import type { RuntimeStore } from "./runtime-store.ts";
import { SandboxRecord, sandboxName } from "./sandbox-record.ts";

/** A sandbox whose name is taken and that nobody sees yet. */
export interface SandboxReservation {
  readonly id: string;
  readonly name: string;
}

/** Takes the name of a sandbox that is to be made; `alreadyExists` when it is taken. */
export function reserveSandbox(store: RuntimeStore, config: SandboxConfig): SandboxReservation {
  const reservation = { id: store.newId(), name: sandboxName(config.metadata) };
  store.sandboxNames.reserve(reservation);
  return reservation;
}

/** Makes the sandbox: READY, with its network set up. On failure the name is free again. */
export function makeSandbox(
  store: RuntimeStore,
  made: { readonly reservation: SandboxReservation; readonly config: SandboxConfig; readonly runtimeHandler: string },
): string {
  const { reservation, config, runtimeHandler } = made;
  const sandbox = new SandboxRecord({ id: reservation.id, config, runtimeHandler, createdAtNs: store.stampNs() });
  if (!sandbox.hostNetwork) {
    try {
      sandbox.setNetwork(store.ips.take());
    } catch (error) {
      store.sandboxNames.release(reservation.name);
      const detail = error instanceof Error ? error.message : String(error);
      throw new NodeletError("internal", `failed to setup network for sandbox "${reservation.id}": ${detail}`, {
        cause: error,
      });
    }
  }
  store.addSandbox(sandbox);
  return sandbox.id;
}

/** Kills what runs in the sandbox and tears its network down. Its created containers stay created. */
export function stopSandbox(store: RuntimeStore, sandboxId: string): void {
  const sandbox = store.sandboxes.get(sandboxId);
  if (sandbox === undefined) return;
  for (const id of sandbox.containers) killContainer(store, id);
  store.endSandbox(sandbox);
}

/** Stops the sandbox, and removes it with its containers. */
export function removeSandbox(store: RuntimeStore, sandboxId: string): void {
  const sandbox = store.sandboxes.get(sandboxId);
  if (sandbox === undefined) return;
  stopSandbox(store, sandboxId);
  for (const id of [...sandbox.containers]) {
    const container = store.containers.get(id);
    if (container !== undefined) releaseContainer(store, container);
  }
  store.removeSandbox(sandbox);
  store.sandboxNames.release(sandboxName(sandbox.config.metadata));
}
