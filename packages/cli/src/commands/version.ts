import { KUBERNETES_VERSION, NODELET_VERSION } from "../version.ts";

/** Prints the versions of the program and of what it stands for. */
export async function showVersion(options: { readonly json: boolean }): Promise<number> {
  const versions = { nodelet: NODELET_VERSION, kubernetes: KUBERNETES_VERSION, node: process.versions.node };
  process.stdout.write(
    options.json
      ? `${JSON.stringify(versions)}\n`
      : `nodelet ${versions.nodelet} (Kubernetes ${versions.kubernetes}, Node.js ${versions.node})\n`,
  );
  return 0;
}
