import { type CallOptions, isErrorOfKind, NodeletError, type RuntimeCapabilities } from "@nodelet/core";
import type { CriRuntimeClient } from "./cri-client.ts";
import { decodeCgroupDriver } from "./mapping/runtime.ts";
import type { OptionalCalls } from "./optional-calls.ts";

/** An id that no runtime gives: asking for it changes nothing. */
const NO_SUCH_ID = "-nodelet-capability-probe";

/** What the probes need. */
export interface CapabilityProbeOptions extends CallOptions {
  readonly client: CriRuntimeClient;
  readonly optional: OptionalCalls;
}

/**
 * Asks the runtime what it can do, by calling each optional procedure in a form that changes nothing. Unimplemented means
 * that it lacks the procedure; any other answer means that it has it. Fails when the runtime cannot be asked.
 */
export async function probeCapabilities(options: CapabilityProbeOptions): Promise<RuntimeCapabilities> {
  const { client, signal } = options;
  const probe = (method: string, call: () => Promise<unknown>): Promise<boolean> =>
    probeOne({ ...options, method, call });
  const filter = { id: NO_SUCH_ID };
  let cgroupDriver: RuntimeCapabilities["cgroupDriver"];
  const [streamedSandboxes, streamedContainers, containerEvents, updatePodSandboxResources, metrics] =
    await Promise.all([
      probe("streamPodSandboxes", () => drain(client.streamPodSandboxes({ filter }, { signal }))),
      probe("streamContainers", () => drain(client.streamContainers({ filter }, { signal }))),
      probe("getContainerEvents", () => openEvents(options)),
      probe("updatePodSandboxResources", () =>
        client.updatePodSandboxResources({ podSandboxId: NO_SUCH_ID }, { signal }),
      ),
      probe("listMetricDescriptors", () => client.listMetricDescriptors({}, { signal })),
      probe("runtimeConfig", async () => {
        cgroupDriver = decodeCgroupDriver(await client.runtimeConfig({}, { signal }));
      }),
    ]);
  return {
    containerEvents,
    streamedLists: streamedSandboxes && streamedContainers,
    cgroupDriver,
    updatePodSandboxResources,
    metrics,
  };
}

async function probeOne(
  options: CapabilityProbeOptions & { method: string; call: () => Promise<unknown> },
): Promise<boolean> {
  try {
    await options.call();
    return true;
  } catch (error) {
    if (isErrorOfKind(error, "unsupported")) {
      options.optional.markAbsent(options.method);
      return false;
    }
    if (NodeletError.is(error) && NO_ANSWER_KINDS.has(error.kind)) throw error;
    return true;
  }
}

/** Kinds that say nothing of the procedure, since the runtime did not get to answer. */
const NO_ANSWER_KINDS: ReadonlySet<string> = new Set(["unavailable", "deadline", "unknownOutcome", "cancelled"]);

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream) {
    // A probe has no use for the rows.
  }
}

/**
 * Opens the event stream and hangs up. A runtime that has it sends nothing until something happens, so silence has to
 * count: one that lacks it refuses before it answers two calls that were made later on the same connection.
 */
async function openEvents({ client, signal }: CapabilityProbeOptions): Promise<void> {
  const hangUp = new AbortController();
  const events = client.getContainerEvents({}, { timeoutMs: 0, signal: hangUp.signal })[Symbol.asyncIterator]();
  const refusal = events.next().then(
    () => undefined,
    (error: unknown) => error,
  );
  const answered = (async () => {
    await client.version({}, { signal });
    await client.version({}, { signal });
    return undefined;
  })();
  try {
    const failure = await Promise.race([refusal, answered]);
    if (failure !== undefined) throw NodeletError.from(failure);
  } finally {
    hangUp.abort();
    answered.catch(() => {});
    await refusal;
    await events.return?.();
  }
}
