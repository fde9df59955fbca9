import { describe, expect, it } from "vitest";
import { renderContainerdConfig } from "./config.ts";

const input = {
  socketPath: "/n/c.sock",
  rootDir: "/n/root",
  stateDir: "/n/state",
  runcRoot: "/n/runc",
  runc: "/t/runc",
  sandboxImage: "localhost/pause:1",
  snapshotter: "overlayfs",
  cniBinDir: "/t/cni",
  cniConfDir: "/n/cni/conf",
  registryDir: "/n/registries",
  systemdCgroup: false,
} as const;

/** The lines of one TOML table. */
function table(text: string, name: string): string[] {
  const lines = text.split("\n");
  const start = lines.indexOf(`[${name}]`);
  expect(start, `table ${name}`).toBeGreaterThan(-1);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("["));
  return rest.slice(0, end < 0 ? undefined : end).filter(Boolean);
}

describe("renderContainerdConfig", () => {
  it("writes configuration version 2 with one CRI plugin for containerd 1", () => {
    const text = renderContainerdConfig({ ...input, major: 1 });
    expect(text.split("\n")[0]).toBe("version = 2");
    const cri = 'plugins."io.containerd.grpc.v1.cri"';
    expect(table(text, cri)).toEqual(
      expect.arrayContaining([
        'sandbox_image = "localhost/pause:1"',
        "restrict_oom_score_adj = true",
        "netns_mounts_under_state_dir = true",
      ]),
    );
    expect(table(text, `${cri}.cni`)).toEqual(['bin_dir = "/t/cni"', 'conf_dir = "/n/cni/conf"', "max_conf_num = 1"]);
    expect(table(text, `${cri}.containerd.runtimes.runc.options`)).toEqual([
      'BinaryName = "/t/runc"',
      'Root = "/n/runc"',
      "SystemdCgroup = false",
    ]);
  });

  it("writes configuration version 3 with the split CRI plugins for containerd 2", () => {
    const text = renderContainerdConfig({ ...input, major: 2, systemdCgroup: true });
    expect(text.split("\n")[0]).toBe("version = 3");
    expect(table(text, 'plugins."io.containerd.cri.v1.images".pinned_images')).toEqual([
      'sandbox = "localhost/pause:1"',
    ]);
    const runtime = 'plugins."io.containerd.cri.v1.runtime"';
    expect(table(text, runtime)).toContain("restrict_oom_score_adj = true");
    expect(table(text, `${runtime}.containerd.runtimes.runc.options`)).toContain("SystemdCgroup = true");
    expect(text).not.toContain("sandbox_image");
  });

  it("quotes paths as TOML strings", () => {
    expect(renderContainerdConfig({ ...input, major: 1, socketPath: '/n "x"\\c.sock' })).toContain(
      'address = "/n \\"x\\"\\\\c.sock"',
    );
  });
});
