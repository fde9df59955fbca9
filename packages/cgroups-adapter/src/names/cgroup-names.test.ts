import { describe, expect, it } from "vitest";
import { cgroupfsPath, systemdSliceName } from "./cgroup-names.ts";

const uid = "0a1b2c3d-0000-4000-8000-00000000000f";

describe("cgroup names", () => {
  // Forms of the kubelet's two drivers.
  it.each([
    [[], "/", "/"],
    [["kubepods"], "/kubepods", "/kubepods.slice"],
    [
      ["kubepods", "burstable", `pod${uid}`],
      `/kubepods/burstable/pod${uid}`,
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_0000_4000_8000_00000000000f.slice",
    ],
    [["a-b", "kubepods"], "/a-b/kubepods", "/a_b.slice/a_b-kubepods.slice"],
  ])("of %j", (name, cgroupfs, systemd) => {
    expect(cgroupfsPath(name)).toBe(cgroupfs);
    expect(systemdSliceName(name)).toBe(systemd);
  });

  it.each([[[""]], [["."]], [["kubepods", ".."]], [["a/b"]], [["a_b"]], [["a\0b"]], [["x".repeat(256)]]])(
    "refuses %j",
    (name) => {
      expect(() => cgroupfsPath(name)).toThrow(expect.objectContaining({ kind: "invalid" }));
      expect(() => systemdSliceName(name)).toThrow(expect.objectContaining({ kind: "invalid" }));
    },
  );
});
