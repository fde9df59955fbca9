import { type CallOptions, type HostNetworkFiles, NodeletError, throwIfAborted } from "@nodelet/core";

/** Fixed contents in place of the host's network files; a test may exchange them at any time. */
export class StaticHostNetworkFiles implements HostNetworkFiles {
  /** Content of resolv.conf files by path. */
  readonly resolvConfs: Map<string, string>;
  /** Content of /etc/hosts; empty when the host has none. */
  hostsFile: string;

  constructor(options: { readonly resolvConfs?: Readonly<Record<string, string>>; readonly hostsFile?: string } = {}) {
    this.resolvConfs = new Map(
      Object.entries(options.resolvConfs ?? { "/etc/resolv.conf": "nameserver 192.0.2.53\n" }),
    );
    this.hostsFile = options.hostsFile ?? "127.0.0.1\tlocalhost\n";
  }

  async readResolvConf(request: { readonly path: string } & CallOptions): Promise<string> {
    throwIfAborted(request.signal, "reading resolv.conf");
    const content = this.resolvConfs.get(request.path);
    if (content === undefined) throw new NodeletError("notFound", `${request.path} does not exist`);
    return content;
  }

  async readHostsFile(options: CallOptions = {}): Promise<string> {
    throwIfAborted(options.signal, "reading /etc/hosts");
    return this.hostsFile;
  }
}
