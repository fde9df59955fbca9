/** Everything that a private containerd's configuration depends on. All paths are absolute. */
export interface ContainerdConfigInput {
  /** containerd's major version: 1 means configuration version 2, 2 means version 3. */
  major: number;
  socketPath: string;
  rootDir: string;
  stateDir: string;
  /** runc's own state: private, so that what a killed shim leaves can be found. */
  runcRoot: string;
  runc: string;
  sandboxImage: string;
  snapshotter: "overlayfs" | "native";
  cniBinDir: string;
  cniConfDir: string;
  /** hosts.toml folders, one a registry. Empty folder: no registry is configured. */
  registryDir: string;
  systemdCgroup: boolean;
}

/** Plugins that a small private containerd has no use for; each costs start time, writes outside our folder, or both. */
const disabledPlugins: Readonly<Record<1 | 2, readonly string[]>> = {
  1: [
    "io.containerd.internal.v1.opt",
    "io.containerd.internal.v1.restart",
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.tracing.processor.v1.otlp",
    "io.containerd.internal.v1.tracing",
  ],
  2: [
    "io.containerd.internal.v1.opt",
    "io.containerd.internal.v1.tracing",
    "io.containerd.monitor.container.v1.restart",
    "io.containerd.nri.v1.nri",
    "io.containerd.snapshotter.v1.blockfile",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.erofs",
    "io.containerd.differ.v1.erofs",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.tracing.processor.v1.otlp",
  ],
};

/**
 * The config.toml of a private containerd. The sandbox image is one that we import, so nothing is pulled;
 * `restrict_oom_score_adj` keeps sandboxes startable where CAP_SYS_RESOURCE is missing.
 */
export function renderContainerdConfig(input: ContainerdConfigInput): string {
  const major = input.major >= 2 ? 2 : 1;
  const common = [
    `version = ${major === 2 ? 3 : 2}`,
    `root = ${quote(input.rootDir)}`,
    `state = ${quote(input.stateDir)}`,
    "oom_score = 0",
    `disabled_plugins = [${disabledPlugins[major].map(quote).join(", ")}]`,
    "",
    "[grpc]",
    `address = ${quote(input.socketPath)}`,
    "",
    "[debug]",
    'level = "info"',
    "",
  ];
  return `${[...common, ...(major === 2 ? renderCri2(input) : renderCri1(input))].join("\n")}\n`;
}

function renderCri1(input: ContainerdConfigInput): string[] {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return [
    `[${cri}]`,
    `sandbox_image = ${quote(input.sandboxImage)}`,
    "restrict_oom_score_adj = true",
    "netns_mounts_under_state_dir = true",
    "enable_unprivileged_ports = true",
    "enable_unprivileged_icmp = true",
    ...renderStreaming(),
    "",
    `[${cri}.containerd]`,
    `snapshotter = ${quote(input.snapshotter)}`,
    'default_runtime_name = "runc"',
    "",
    ...renderRunc(`${cri}.containerd.runtimes.runc`, input),
    `[${cri}.cni]`,
    `bin_dir = ${quote(input.cniBinDir)}`,
    `conf_dir = ${quote(input.cniConfDir)}`,
    "max_conf_num = 1",
    "",
    `[${cri}.registry]`,
    `config_path = ${quote(input.registryDir)}`,
  ];
}

function renderCri2(input: ContainerdConfigInput): string[] {
  const images = 'plugins."io.containerd.cri.v1.images"';
  const runtime = 'plugins."io.containerd.cri.v1.runtime"';
  return [
    `[${images}]`,
    `snapshotter = ${quote(input.snapshotter)}`,
    "",
    `[${images}.pinned_images]`,
    `sandbox = ${quote(input.sandboxImage)}`,
    "",
    `[${images}.registry]`,
    `config_path = ${quote(input.registryDir)}`,
    "",
    `[${runtime}]`,
    "restrict_oom_score_adj = true",
    "netns_mounts_under_state_dir = true",
    "enable_unprivileged_ports = true",
    "enable_unprivileged_icmp = true",
    "enable_cdi = false",
    "",
    `[${runtime}.containerd]`,
    'default_runtime_name = "runc"',
    "",
    ...renderRunc(`${runtime}.containerd.runtimes.runc`, input),
    `[${runtime}.cni]`,
    `bin_dirs = [${quote(input.cniBinDir)}]`,
    `conf_dir = ${quote(input.cniConfDir)}`,
    "max_conf_num = 1",
    "",
    '[plugins."io.containerd.grpc.v1.cri"]',
    ...renderStreaming(),
  ];
}

/** exec, attach and port-forward listen on a free port of the loopback interface. */
function renderStreaming(): string[] {
  return ["disable_tcp_service = true", 'stream_server_address = "127.0.0.1"', 'stream_server_port = "0"'];
}

function renderRunc(table: string, input: ContainerdConfigInput): string[] {
  return [
    `[${table}]`,
    'runtime_type = "io.containerd.runc.v2"',
    "",
    `[${table}.options]`,
    `BinaryName = ${quote(input.runc)}`,
    `Root = ${quote(input.runcRoot)}`,
    `SystemdCgroup = ${input.systemdCgroup}`,
    "",
  ];
}

/** A TOML basic string; JSON's escapes are a subset of TOML's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
