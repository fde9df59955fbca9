import { type ContainerEvent, NodeletError } from "@nodelet/core";
import type { CallGate } from "./call-gate.ts";
import type { RuntimeStore } from "./runtime-store.ts";

/** Passes events on, each in a turn of its own, until the signal fires (resolves) or the daemon goes away (rejects). */
export function streamEvents(
  around: { readonly store: RuntimeStore; readonly gate: CallGate },
  request: { readonly onEvent: (event: ContainerEvent) => void; readonly signal: AbortSignal },
): Promise<void> {
  const { signal } = request;
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let open = true;
    const close = () => {
      open = false;
      stopListening();
      forgetStream();
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      close();
      resolve();
    };
    const forgetStream = around.gate.openStream((error) => {
      close();
      reject(new NodeletError("unavailable", "error reading from server: EOF", { cause: error }));
    });
    const stopListening = around.store.onEvent((event) => {
      void Promise.resolve().then(() => {
        if (open) request.onEvent(event);
      });
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
