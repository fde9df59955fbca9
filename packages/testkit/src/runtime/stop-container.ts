import type { Clock } from "@nodelet/core";
import { killContainer } from "./container-operations.ts";
import type { RuntimeStore } from "./runtime-store.ts";

/**
 * Sends the stop signal (once in a container's life), waits for the exit, kills after the timeout. A caller that goes away ends the waiting:
 * then nothing kills. Containers that do not run are left as they are.
 */
export function stopContainer(
  store: RuntimeStore,
  stop: {
    readonly containerId: string;
    readonly timeoutMs: number;
    readonly clock: Clock;
    readonly onAbandon: (callback: () => void) => void;
  },
): Promise<void> {
  const container = store.containers.get(stop.containerId);
  if (container?.state !== "CONTAINER_RUNNING") return Promise.resolve();
  return new Promise((resolve) => {
    container.exitWaiters.add(resolve);
    if (stop.timeoutMs <= 0) {
      killContainer(store, container.id);
      return;
    }
    if (!container.stopSignalled) {
      container.stopSignalled = true;
      container.process?.signal();
    }
    if (container.state !== "CONTAINER_RUNNING") return;
    const timer = stop.clock.setTimer(stop.timeoutMs, () => killContainer(store, container.id));
    container.exitWaiters.add(() => timer.cancel());
    stop.onAbandon(() => timer.cancel());
  });
}
