import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mountsAtOrBelow, parseMountInfo, readMounts, readMountsAtOrBelow } from "./mounts.ts";
import { scratchFolders } from "./scratch.test-support.ts";

const scratch = scratchFolders();

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

describe("readMountsAtOrBelow", () => {
  const line = (id: number, mountPoint: string): string => `${id} 1 0:1 / ${mountPoint} rw - tmpfs tmpfs rw`;

  it.each([
    ["/pods/a", [1, 2]],
    ["/pods/ab", [3]],
    ["/pods/none", []],
    ["/pods/with space", [4, 5]],
    ["/pods/with\\slash", [6]],
  ])("finds what is mounted at and below %j", async (path, expected) => {
    const file = join(scratch(), "mountinfo");
    const points = [
      "/pods/a",
      "/pods/a/v/x",
      "/pods/ab",
      "/pods/with\\040space",
      "/pods/with\\040space/v",
      "/pods/with\\134slash",
    ];
    writeFileSync(
      file,
      `${["1 1 0:1 /pods/a /other rw - ext4 /dev/sda rw", ...points.map((point, at) => line(at + 1, point))].join("\n")}\n`,
    );
    const found = await readMountsAtOrBelow({ path, mountInfoPath: file });
    expect(found.map(({ mountId }) => mountId)).toEqual(expected);
  });
});
