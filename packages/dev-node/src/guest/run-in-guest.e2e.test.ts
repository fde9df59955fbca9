import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInGuest } from "./run-in-guest.ts";

let shareDir: string;
beforeEach(async () => {
  shareDir = await mkdtemp(join(tmpdir(), "nodelet-share-"));
});
afterEach(() => rm(shareDir, { recursive: true }));

/** A guest has one processor, and boots slowly where the machine is busy. */
const bootTimeoutMs = 240_000;

describe("runInGuest", { timeout: 2 * bootTimeoutMs }, () => {
  it("runs a command under systemd with cgroup v2, and hands back output, exit code and shared files", async () => {
    const script =
      'cat /proc/1/comm; stat -fc %T /sys/fs/cgroup; echo "$WORD" | tee /share/word; touch /etc/not-here; exit 7';
    const result = await runInGuest({ command: ["sh", "-c", script], env: { WORD: "it's" }, shareDir });
    expect(result).toMatchObject({ exitCode: 7, output: "systemd\ncgroup2fs\nit's\n" });
    expect(await readFile(join(shareDir, "word"), "utf8")).toBe("it's\n");
    await expect(readFile("/etc/not-here")).rejects.toThrow("ENOENT");
  });

  it("keeps the vector registers of programs that take turns apart", async () => {
    // SHA-512 in OpenSSL works in vector registers. Four at once on one processor are switched many times.
    const program =
      'const h = require("crypto").createHash("sha512"); for (let i = 0; i < 300; i++) h.update(Buffer.alloc(1e5, i)); console.log(h.digest("hex"))';
    const hash = createHash("sha512");
    for (let round = 0; round < 300; round++) {
      hash.update(Buffer.alloc(1e5, round));
    }
    const script = 'for i in 1 2 3 4; do node -e "$PROGRAM" & done; wait';
    const { output } = await runInGuest({ command: ["sh", "-c", script], env: { PROGRAM: program }, shareDir });
    expect(output).toBe(`${hash.digest("hex")}\n`.repeat(4));
  });

  it("is killed on request, and says what it printed", async () => {
    const abort = new AbortController();
    const command = ["sh", "-c", "echo begun; sleep 1000"] as const;
    const run = runInGuest({ command, signal: abort.signal, shareDir });
    const output = async (): Promise<string> => readFile(join(shareDir, "output"), "utf8").catch(() => "");
    const failure = run.then(
      () => "it ended by itself",
      (error: unknown) => String(error),
    );
    await expect.poll(output, { timeout: bootTimeoutMs, interval: 100 }).toBe("begun\n");
    abort.abort();
    expect(await failure).toMatch(/was killed on request[^]*begun/);
  });

  it("is killed when its time is over", async () => {
    await expect(runInGuest({ command: ["true"], timeoutMs: 500, shareDir })).rejects.toThrow(
      /did not end within 500 ms/,
    );
  });

  it.each(["1.6", "2.1"])("runs a pod on containerd %s with the systemd cgroup driver", async (version) => {
    const program = fileURLToPath(new URL("./pod-in-guest.test-support.ts", import.meta.url));
    const { exitCode, output } = await runInGuest({ command: ["node", program, version], shareDir });
    expect(output).toBe("");
    expect(exitCode).toBe(0);
    const report: unknown = JSON.parse(await readFile(join(shareDir, "report.json"), "utf8"));
    expect(report).toMatchObject({
      version: expect.stringMatching(version === "1.6" ? /^1\.6\./ : /^2\./),
      snapshotter: "overlayfs",
      ip: expect.stringMatching(/^10\.21[3-6]\./),
      page: expect.stringContaining("root:x:0:0"),
      processes: expect.stringMatching(/^\d+\n/),
      left: [],
    });
  });
});
