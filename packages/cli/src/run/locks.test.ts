import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockPlaces } from "./locks.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nodelet-locks-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const places = (root: string, socket: string) => ({
  rootDir: join(folder, root),
  runtimeEndpoint: `unix://${join(folder, socket)}`,
  nodeName: `node-${root}`,
});

test("two agents share neither root directory nor runtime; each is told who has it", async () => {
  const first = await lockPlaces(places("a", "run/c.sock"));
  await expect(lockPlaces(places("b", "run/c.sock"))).rejects.toMatchObject({
    kind: "conflict",
    message:
      `the runtime unix://${folder}/run/c.sock is in use by another agent: node node-a, process ${process.pid}, ` +
      `root directory ${folder}/a; stop it first (nodelet stop --root-dir=${folder}/a)`,
  });
  await expect(lockPlaces(places("a", "run/d.sock"))).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringContaining(`the root directory ${folder}/a is in use by another agent: node node-a`),
  });
  first.release();
  // What a failed start had locked already is free again.
  (await lockPlaces(places("b", "run/d.sock"))).release();
  (await lockPlaces(places("a", "run/c.sock"))).release();
  expect(readdirSync(join(folder, "run"))).toEqual([]);
  expect(readdirSync(join(folder, "a"))).toEqual([]);
});

test("one runtime behind two paths is one runtime", async () => {
  mkdirSync(join(folder, "run"));
  symlinkSync("run", join(folder, "also-run"));
  const first = await lockPlaces(places("a", "run/c.sock"));
  await expect(lockPlaces(places("b", "also-run/c.sock"))).rejects.toMatchObject({ kind: "conflict" });
  first.release();
});

test("what cannot be locked is told", async () => {
  mkdirSync(join(folder, "a/nodelet.lock"), { recursive: true });
  await expect(lockPlaces(places("a", "run/c.sock"))).rejects.toMatchObject({
    message: expect.stringMatching(/^the root directory .* cannot be locked: /),
  });
});
