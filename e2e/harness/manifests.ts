import type { Container, Pod, PodSpec } from "@nodelet/core";
import { standardImages } from "@nodelet/dev-node";

/** A process that ends at once when it is told to, and otherwise never. */
export const obedient = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"];

/** A container of the standard busybox. */
export function container(name: string, command: readonly string[], more: Partial<Container> = {}): Container {
  return { name, image: standardImages.busybox, imagePullPolicy: "IfNotPresent", command: [...command], ...more };
}

/** A shell script as a container's command. */
export function shell(script: string): string[] {
  return ["sh", "-c", script];
}

/** A manifest with short grace. Without containers it has one, "main", that runs until it is told to end. */
export function podManifest(
  name: string,
  spec: Partial<PodSpec> = {},
  metadata: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> } = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { terminationGracePeriodSeconds: 2, containers: [container("main", obedient)], ...spec },
  };
}
