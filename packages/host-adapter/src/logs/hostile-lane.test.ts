import { describe, expect, it, vi } from "vitest";
import { HostileLane } from "./hostile-lane.ts";

const call = { what: "read", timeoutMs: 1_000, changes: false };
const never = () => new Promise<never>(() => {});

describe("HostileLane", () => {
  it("runs as many at a time as it is wide, in order", async () => {
    const lane = new HostileLane({ width: 2 });
    const started: number[] = [];
    const release: (() => void)[] = [];
    const runs = [0, 1, 2, 3].map((index) =>
      lane.run(call, () => {
        started.push(index);
        return new Promise<number>((resolve) => release.push(() => resolve(index)));
      }),
    );
    expect(started).toEqual([0, 1]);
    release[1]?.();
    await runs[1];
    await vi.waitFor(() => expect(started).toEqual([0, 1, 2]));
    for (const next of [0, 2, 3]) {
      await vi.waitFor(() => expect(release[next]).toBeDefined());
      release[next]?.();
    }
    expect(await Promise.all(runs)).toEqual([0, 1, 2, 3]);
  });

  it("frees the caller of work that hangs, keeps its place, and fails those behind by their own deadlines", async () => {
    vi.useFakeTimers();
    try {
      const lane = new HostileLane({ width: 1 });
      let finish = () => {};
      const stuck = lane.run({ ...call, changes: true }, () => new Promise<void>((resolve) => (finish = resolve)));
      const behind = lane.run({ ...call, changes: true, timeoutMs: 500 }, never);
      const outcomes = Promise.allSettled([stuck, behind]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await outcomes).toMatchObject([
        { reason: { kind: "unknownOutcome", message: "read: took more than 1000 ms" } },
        { reason: { kind: "deadline", message: "read: waited for others for more than 500 ms" } },
      ]);
      finish();
      await expect(lane.run(call, async () => "free again")).resolves.toBe("free again");
    } finally {
      vi.useRealTimers();
    }
  });

  it("leaves the queue when cancelled", async () => {
    const lane = new HostileLane({ width: 1 });
    void lane.run({ ...call, timeoutMs: 60_000 }, never).catch(() => {});
    const controller = new AbortController();
    const waiting = lane.run({ ...call, signal: controller.signal }, never);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    await expect(lane.run({ ...call, signal: controller.signal }, never)).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("passes failures on and goes on", async () => {
    const lane = new HostileLane({ width: 1 });
    await expect(lane.run(call, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    await expect(lane.run(call, async () => 1)).resolves.toBe(1);
  });
});
