import { type HostNetworkFiles, isErrorOfKind } from "@nodelet/core";
import { readPathBounded } from "@nodelet/lib-safe-fs";
import { hostCall } from "../errors/host-error.ts";

const MAX_BYTES = 10 * 1024 * 1024;

/** The host's resolver configuration and /etc/hosts. Links are followed (systemd-resolved's resolv.conf is one), pipes and devices refused. */
export class HostNetwork implements HostNetworkFiles {
  readonly #hostsPath: string;

  constructor(options: { readonly hostsPath?: string } = {}) {
    this.#hostsPath = options.hostsPath ?? "/etc/hosts";
  }

  async readResolvConf(request: { readonly path: string; readonly signal?: AbortSignal }): Promise<string> {
    return readText(request.path, request.signal);
  }

  async readHostsFile(options: { readonly signal?: AbortSignal } = {}): Promise<string> {
    try {
      return await readText(this.#hostsPath, options.signal);
    } catch (error) {
      if (isErrorOfKind(error, "notFound")) return "";
      throw error;
    }
  }
}

async function readText(path: string, signal: AbortSignal | undefined): Promise<string> {
  return hostCall({ what: `cannot read ${path}`, signal }, async () =>
    (await readPathBounded({ path, maxBytes: MAX_BYTES, local: true })).toString("utf8"),
  );
}
