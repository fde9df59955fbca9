import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where one `npm start` keeps its things, all below one folder that it removes at the end. */
export interface Place {
  /** `.nodelet`, which the cache of tools stays in. */
  readonly base: string;
  /** containerd's own folder, made and removed by the development node. */
  readonly containerdDir: string;
  /** Everything of the agent. */
  readonly agentDir: string;
  readonly rootDir: string;
  readonly configPath: string;
  readonly logPath: string;
  /** A link to the manifests, so that they can be taken away from under the agent. */
  readonly manifestsLink: string;
  /** Names the runtime of somebody else that pods were started on. */
  readonly runtimeNote: string;
  readonly lockPath: string;
}

/** The place in this repository. */
export function placeIn(root: string): Place {
  const base = join(root, ".nodelet");
  const agentDir = join(base, "agent");
  return {
    base,
    containerdDir: join(base, "containerd"),
    agentDir,
    rootDir: join(agentDir, "root"),
    configPath: join(agentDir, "config.yaml"),
    logPath: join(agentDir, "agent.log"),
    manifestsLink: join(agentDir, "manifests"),
    runtimeNote: join(agentDir, "runtime"),
    lockPath: join(base, "start.lock"),
  };
}

/** Makes the agent's folder with its configuration. What an earlier start left in the root directory stays: pods may belong to it. */
export async function furnish(
  place: Place,
  options: { readonly manifests: string; readonly ports: { readonly healthz: number; readonly readOnly: number } },
): Promise<void> {
  await mkdir(place.agentDir, { recursive: true, mode: 0o750 });
  await pointManifestsTo(place, options.manifests);
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    staticPodPath: place.manifestsLink,
    podLogsDir: join(place.agentDir, "pod-logs"),
    address: "127.0.0.1",
    healthzPort: options.ports.healthz,
    readOnlyPort: options.ports.readOnly,
  };
  // JSON is YAML, and quotes whatever a path may hold.
  await writeFile(place.configPath, `${JSON.stringify(config, undefined, 2)}\n`);
}

/** Lets the agent find other manifests in one step. */
export async function pointManifestsTo(place: Place, target: string): Promise<void> {
  const next = `${place.manifestsLink}.next`;
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, place.manifestsLink);
}
