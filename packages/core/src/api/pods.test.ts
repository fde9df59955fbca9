import { expect, it } from "vitest";
import type { Pod } from "./gen/core-v1.ts";
import { int64ToBigInt, int64ToNumber } from "./int64.ts";
import { findCondition, findContainer, findContainerStatus, formatPod, podContainers } from "./pods.ts";

const pod: Pod = {
  metadata: { name: "web", namespace: "shop", uid: "u-1" },
  spec: {
    initContainers: [{ name: "i" }],
    containers: [{ name: "a" }, { name: "b" }],
    ephemeralContainers: [{ name: "e" }],
  },
  status: {
    conditions: [{ type: "Ready", status: "True" }],
    initContainerStatuses: [{ name: "i", image: "", imageID: "x", ready: true, restartCount: 0 }],
  },
};

it("names a pod as logs and messages do", () => {
  expect(formatPod(pod)).toBe("web_shop(u-1)");
});

it("finds containers, statuses and conditions whichever list they stand in", () => {
  expect([...podContainers(pod)].map(({ kind, container }) => `${kind}/${container.name}`)).toEqual([
    "init/i",
    "regular/a",
    "regular/b",
    "ephemeral/e",
  ]);
  expect(findContainer(pod, "e")?.kind).toBe("ephemeral");
  expect(findContainer(pod, "z")).toBeUndefined();
  expect(findContainerStatus(pod, "i")?.imageID).toBe("x");
  expect(findContainerStatus(pod, "a")).toBeUndefined();
  expect(findCondition(pod.status?.conditions, "Ready")?.status).toBe("True");
});

it("turns int64 into bigint exactly and into a number within its exact integers", () => {
  expect(int64ToBigInt(5)).toBe(5n);
  expect(int64ToBigInt(2n ** 62n)).toBe(4611686018427387904n);
  expect(int64ToNumber(30n)).toBe(30);
  expect(int64ToNumber(2n ** 63n - 1n)).toBe(9007199254740991);
  expect(int64ToNumber(-(2n ** 63n))).toBe(-9007199254740991);
});
