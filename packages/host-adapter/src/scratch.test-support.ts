import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";

/** A folder of its own for each call, removed after the test. */
export function scratchFolders(): () => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "nodelet-host-")));
    folders.push(folder);
    return folder;
  };
}

export function makePipe(path: string): void {
  execFileSync("mkfifo", [path]);
}
