import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTar, type TarEntry } from "./tar.ts";

/** Lists an archive with the system's tar, which is the judge here. */
function listWithTar(archive: Uint8Array): string[] {
  const output = execFileSync("tar", ["-tvf", "-", "--numeric-owner", "--utc", "--full-time"], { input: archive });
  return output.toString().trim().split("\n");
}

describe("createTar", () => {
  it("writes headers that the system's tar reads: types, modes, owners, sizes, link targets, time zero", () => {
    const archive = createTar([
      { path: "bin/", mode: 0o755 },
      { path: "bin/tool", mode: 0o4755, data: Buffer.from("hello"), uid: 1000, gid: 2000 },
      { path: "bin/link", mode: 0o777, linkTarget: "/bin/tool" },
      { path: "tmp/", mode: 0o1777 },
    ]);
    expect(listWithTar(archive).map((line) => line.replace(/ +/g, " "))).toEqual([
      "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 bin/",
      "-rwsr-xr-x 1000/2000 5 1970-01-01 00:00:00 bin/tool",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 bin/link -> /bin/tool",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/",
    ]);
  });

  it("is made of 512-byte blocks: header, padded data, two empty blocks at the end", () => {
    // One header, one block for one byte, and the end: 4 * 512.
    expect(createTar([{ path: "a", mode: 0o644, data: Buffer.from("x") }]).length).toBe(2048);
    // Data that fills its block exactly gets no padding.
    expect(createTar([{ path: "a", mode: 0o644, data: Buffer.alloc(512) }]).length).toBe(2048);
    expect(createTar([]).length).toBe(1024);
  });

  it("puts the checksum of the header at offset 148: the byte sum with the field as eight spaces", () => {
    const archive = createTar([{ path: "a", mode: 0, data: new Uint8Array() }]);
    // By hand: "a" 97; five 7-digit octal zeros (mode, uid, gid, two device numbers) and two 11-digit ones (size, time): 57 * 48 = 2736;
    // eight spaces 256; type "0" 48; "ustar" 117+115+116+97+114 = 559; version "00" 96. Sum 3792 = octal 7320.
    expect(Buffer.from(archive.subarray(148, 156)).toString("latin1")).toBe("007320\0 ");
  });

  it("splits a path of more than 100 bytes at a slash", () => {
    const path = `${"d".repeat(90)}/${"e".repeat(60)}/file`;
    const archive = createTar([{ path, mode: 0o644, data: Buffer.from("x") }]);
    expect(listWithTar(archive)[0]).toContain(path);
  });

  it("refuses what the format cannot hold", () => {
    expect(() => createTar([{ path: "x".repeat(101), mode: 0o644 }])).toThrow(/too long for a ustar archive/);
    expect(() => createTar([{ path: "l", mode: 0o777, linkTarget: "x".repeat(101) }])).toThrow(
      /longer than the 100 bytes/,
    );
  });

  it("gives back every file's bytes and mode when the system's tar unpacks it", () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,20}$/);
    const file = fc.record({
      path: name,
      mode: fc.integer({ min: 0o600, max: 0o777 }),
      data: fc.uint8Array({ maxLength: 1500 }),
    });
    const files = fc.uniqueArray(file, { minLength: 1, maxLength: 5, selector: ({ path }) => path });
    fc.assert(
      fc.property(files, (entries: TarEntry[]) => {
        const folder = mkdtempSync(join(tmpdir(), "nodelet-tar-"));
        try {
          const path = join(folder, "a.tar");
          writeFileSync(path, createTar(entries));
          execFileSync("tar", ["-xpf", path, "-C", folder, "--no-same-owner"]);
          for (const entry of entries) {
            expect(Buffer.compare(readFileSync(join(folder, entry.path)), Buffer.from(entry.data ?? []))).toBe(0);
            expect(statSync(join(folder, entry.path)).mode & 0o777).toBe(entry.mode);
          }
        } finally {
          rmSync(folder, { recursive: true });
        }
      }),
      { numRuns: 20 },
    );
  });
});
