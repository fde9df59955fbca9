import { describe, expect, it } from "vitest";
import { mountsAtOrBelow, parseMountInfo, readMounts } from "./mounts.ts";

// Lines in the form of proc_pid_mountinfo(5); the first is that page's own example.
const text = [
  "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
  "40 36 0:32 / /pods/a\\040b/x rw,relatime shared:7 master:2 - tmpfs tmpfs rw,size=4k",
  "41 36 0:33 / /pods/ab rw - tmpfs tmp\\011fs rw",
  "not a mount line",
  "",
].join("\n");

describe("parseMountInfo", () => {
  it("reads the fields, optional ones and octal escapes included", () => {
    const mounts = parseMountInfo(text);
    expect(mounts).toHaveLength(3);
    expect(mounts[0]).toEqual({
      mountId: 36,
      parentId: 35,
      mountPoint: "/mnt2",
      root: "/mnt1",
      fsType: "ext3",
      source: "/dev/root",
      mountOptions: ["rw", "noatime"],
      superOptions: ["rw", "errors=continue"],
      propagation: ["master:1"],
    });
    expect(mounts[1]).toMatchObject({ mountPoint: "/pods/a b/x", propagation: ["shared:7", "master:2"] });
    expect(mounts[2]).toMatchObject({ source: "tmp\tfs", propagation: [] });
  });
});

describe("mountsAtOrBelow", () => {
  it.each([
    ["/pods/a b", ["/pods/a b/x"]],
    ["/pods/a", []],
    ["/pods/ab", ["/pods/ab"]],
    ["/pods", ["/pods/a b/x", "/pods/ab"]],
    ["/", ["/mnt2", "/pods/a b/x", "/pods/ab"]],
  ])("%s", (path, expected) => {
    expect(mountsAtOrBelow(parseMountInfo(text), path).map((mount) => mount.mountPoint)).toEqual(expected);
  });
});

it("sees the mounts of this machine", async () => {
  expect((await readMounts()).map((mount) => mount.mountPoint)).toEqual(expect.arrayContaining(["/", "/proc"]));
});
