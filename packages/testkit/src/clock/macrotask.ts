/** The scheduling functions that a JavaScript host may offer; none is in the language itself. */
interface HostScheduling {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly MessageChannel?: new () => {
    readonly port1: { onmessage: (() => void) | null };
    readonly port2: { postMessage(value: unknown): void };
  };
  readonly setTimeout: (callback: () => void, delayMs: number) => unknown;
}

/**
 * Picks the cheapest way to run a callback as a task of its own. The host empties its microtask queue between tasks, so when the callback
 * runs, every promise chain that could move without time or I/O has come to rest. Node.js has `setImmediate`, browsers a MessageChannel.
 */
function chooseHop(host: HostScheduling): (callback: () => void) => void {
  const { setImmediate, MessageChannel, setTimeout } = host;
  if (setImmediate !== undefined) return (callback) => void setImmediate(callback);
  if (MessageChannel === undefined) return (callback) => void setTimeout(callback, 0);
  const channel = new MessageChannel();
  const waiting: (() => void)[] = [];
  channel.port1.onmessage = () => waiting.shift()?.();
  return (callback) => {
    waiting.push(callback);
    channel.port2.postMessage(undefined);
  };
}

/** Captured when the module loads, so that fake timers that a test framework installs later cannot stop the virtual clock. */
const hop = chooseHop(globalThis as unknown as HostScheduling);

/** Resolves once all promise chains have come to rest: in a task after the present microtasks. */
export function afterMicrotasks(): Promise<void> {
  return new Promise(hop);
}
