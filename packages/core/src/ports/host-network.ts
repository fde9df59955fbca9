import type { CallOptions } from "./runtime-service.ts";

/** Files of the host that pods' network faces are made from. Re-read at each call; bounded. */
export interface HostNetworkFiles {
  /** Content of the configured resolv.conf, at most 10 MiB. `notFound` when it does not exist. */
  readResolvConf(request: { readonly path: string } & CallOptions): Promise<string>;
  /** Content of the host's /etc/hosts, for pods on the host network. Empty when it does not exist. */
  readHostsFile(options?: CallOptions): Promise<string>;
}
