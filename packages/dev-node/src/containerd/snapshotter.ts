import { mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../processes.ts";

/** overlayfs where a folder can carry an overlay mount; else native, which copies (slower, works anywhere). */
export async function chooseSnapshotter(dir: string): Promise<"overlayfs" | "native"> {
  const trial = join(dir, "overlay-trial");
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(trial, name));
  for (const folder of [lower, upper, work, merged]) {
    await mkdir(folder ?? trial, { recursive: true });
  }
  try {
    await runCommand([
      "mount",
      "-t",
      "overlay",
      "-o",
      `lowerdir=${lower},upperdir=${upper},workdir=${work}`,
      "overlay",
      merged ?? trial,
    ]);
    await runCommand(["umount", merged ?? trial]);
    return "overlayfs";
  } catch {
    return "native";
  } finally {
    // rmdir first: it fails on a mount point, where rm would go inside.
    await rmdir(merged ?? trial);
    await rm(trial, { recursive: true, force: true });
  }
}
