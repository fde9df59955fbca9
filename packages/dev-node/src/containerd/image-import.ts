import { setTimeout as sleep } from "node:timers/promises";
import { DevNodeError } from "../errors.ts";
import type { CriProbe } from "./cri-probe.ts";

/** Waits until CRI shows the images: it takes them up from containerd's events, a moment after they are imported. */
export async function waitForImages(options: { probe: CriProbe; names: readonly string[] }): Promise<void> {
  const timeoutMs = 10_000;
  const end = performance.now() + timeoutMs;
  for (;;) {
    const tags = await options.probe.listImageTags();
    const missing = options.names.filter((name) => !tags.includes(name));
    if (missing.length === 0) {
      return;
    }
    if (performance.now() > end) {
      throw new DevNodeError("start", `CRI does not show ${missing.join(", ")} within ${timeoutMs} ms of the import`);
    }
    await sleep(10);
  }
}
