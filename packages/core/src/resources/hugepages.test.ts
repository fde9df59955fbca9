import { expect, test } from "vitest";
import { parseResourceList } from "../api/index.ts";
import { hugepageLimits, hugepageSizeBytes, hugepageSizeName } from "./hugepages.ts";

const MI2 = 2_097_152n;
const GI1 = 1_073_741_824n;

test.each([
  [65_536n, "64KB"],
  [MI2, "2MB"],
  [33_554_432n, "32MB"],
  [GI1, "1GB"],
  [17_179_869_184n, "16GB"],
])("%i bytes are named %s", (size, name) => {
  expect(hugepageSizeName(size)).toBe(name);
});

test.each([
  ["hugepages-2Mi", MI2],
  ["hugepages-1Gi", GI1],
  ["hugepages-", undefined],
  ["hugepages-x", undefined],
  ["hugepages--2Mi", undefined],
  ["memory", undefined],
])("%s names pages of %s bytes", (resource, size) => {
  expect(hugepageSizeBytes(resource)).toBe(size);
});

test("every size of the machine has a limit, 0 unless given; the container's wins over the pod's", () => {
  const pod = parseResourceList({ "hugepages-2Mi": "64Mi", "hugepages-1Gi": "2Gi", memory: "1Gi" });
  const container = parseResourceList({ "hugepages-2Mi": "4Mi" });
  expect(hugepageLimits({ machineSizesBytes: [MI2, GI1], limits: [] })).toEqual([
    { pageSize: "2MB", limit: 0n },
    { pageSize: "1GB", limit: 0n },
  ]);
  expect(hugepageLimits({ machineSizesBytes: [MI2, GI1], limits: [pod, container] })).toEqual([
    { pageSize: "2MB", limit: 4_194_304n },
    { pageSize: "1GB", limit: 2_147_483_648n },
  ]);
});

test("a size that the machine lacks is left out", () => {
  const limits = [parseResourceList({ "hugepages-1Gi": "1Gi" })];
  expect(hugepageLimits({ machineSizesBytes: [MI2], limits })).toEqual([{ pageSize: "2MB", limit: 0n }]);
});
