import type { Program } from "@nodelet/testkit";

/** What the containers of examples/pods do that the in-memory runtime cannot read from their scripts; the same times as in reality. */
export const simulatedPrograms: readonly Program[] = [
  ({ podName, containerName, attempt }) => {
    if (!podName.startsWith("crash-loop") || containerName !== "impatient") return undefined;
    // The third attempt comes 10 s after the second: the server is there by then.
    if (attempt >= 2) return { onStop: { exitCode: 0 } };
    return { exit: { afterMs: 200, exitCode: 1 }, output: [{ text: "the server is not there" }] };
  },
  ({ podName, attempt }) => {
    if (!podName.startsWith("job")) return undefined;
    return attempt === 0 ? { exit: { afterMs: 2000, exitCode: 1 } } : { exit: { afterMs: 6000, exitCode: 0 } };
  },
  ({ podName, containerName }) =>
    podName.startsWith("pair") && containerName === "client" ? { onStop: { exitCode: 0 } } : undefined,
];
