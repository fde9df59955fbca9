import { randomBytes } from "node:crypto";
import { link, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "./errors.ts";

/**
 * Creates a file with its content in one step: whoever sees the file sees all of it, also when its creator dies at any
 * moment. False when the file exists. Missing parent folders are made, again if another process removes them meanwhile.
 */
export async function createExclusively(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(draft, text, { flag: "wx" });
      await link(draft, path);
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") {
        return false;
      }
      if (errnoOf(error) !== "ENOENT" || attempt === 10) {
        throw error;
      }
    } finally {
      await rm(draft, { force: true });
    }
  }
}
