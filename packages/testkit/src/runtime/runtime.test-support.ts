import { type ContainerConfig, type ErrorKind, NodeletError, type SandboxConfig } from "@nodelet/core";
import { VirtualClock } from "../clock/virtual-clock.ts";
import { InMemoryImages } from "../images/in-memory-images.ts";
import { InMemoryRuntime } from "./in-memory-runtime.ts";
import type { InMemoryRuntimeOptions } from "./runtime-options.ts";

export const IMAGE = "localhost/busybox:1.35";

/** A runtime with one image on a clock of its own. */
export function newRuntime(options: Partial<InMemoryRuntimeOptions> = {}): {
  clock: VirtualClock;
  runtime: InMemoryRuntime;
} {
  const clock = new VirtualClock();
  const images = new InMemoryImages({ clock, present: [IMAGE] });
  return { clock, runtime: new InMemoryRuntime({ clock, images, ...options }) };
}

export function sandboxConfig(options: { readonly name?: string; readonly attempt?: number } = {}): SandboxConfig {
  const { name = "web", attempt = 0 } = options;
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, attempt },
    hostname: name,
    logDirectory: `/var/log/pods/default_${name}_uid-${name}`,
    labels: { "io.kubernetes.pod.uid": `uid-${name}` },
    linux: { securityContext: { namespaceOptions: { pid: "CONTAINER" } } },
  };
}

export function containerConfig(
  options: { readonly name?: string; readonly attempt?: number; readonly command?: readonly string[] } = {},
): ContainerConfig {
  const { name = "app", attempt = 0, command = ["sleep", "infinity"] } = options;
  return {
    metadata: { name, attempt },
    image: { image: IMAGE },
    command,
    logPath: `${name}/${attempt}.log`,
    labels: { "io.kubernetes.container.name": name },
    linux: { securityContext: { namespaceOptions: { pid: "CONTAINER" } } },
  };
}

/** A sandbox with one container of that command, started. */
export async function startedContainer(
  runtime: InMemoryRuntime,
  options: Parameters<typeof containerConfig>[0] & { readonly pod?: string } = {},
): Promise<{ sandboxId: string; containerId: string }> {
  const config = sandboxConfig({ name: options.pod ?? "web" });
  const sandboxId = await runtime.runSandbox({ config, runtimeHandler: "" });
  const containerId = await runtime.createContainer({
    sandboxId,
    config: containerConfig(options),
    sandboxConfig: config,
  });
  await runtime.startContainer({ containerId });
  return { sandboxId, containerId };
}

/** What became of a call: its error's kind, or ok. Safe to await long after it failed. */
export async function outcomeOf(call: Promise<unknown>): Promise<ErrorKind | "ok"> {
  try {
    await call;
    return "ok";
  } catch (error) {
    return NodeletError.from(error).kind;
  }
}
