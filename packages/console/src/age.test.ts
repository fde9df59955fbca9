import { expect, test } from "vitest";
import { shortAge } from "./age.ts";

// The limits of kubectl's HumanDuration (k8s.io/apimachinery/pkg/util/duration).
test.each([
  [-5, "0s"],
  [0.9, "0s"],
  [119, "119s"],
  [120, "2m"],
  [200, "3m20s"],
  [599, "9m59s"],
  [600, "10m"],
  [3 * 3600 - 1, "179m"],
  [3 * 3600, "3h"],
  [4 * 3600 + 600, "4h10m"],
  [8 * 3600 - 1, "7h59m"],
  [8 * 3600, "8h"],
  [47 * 3600, "47h"],
  [48 * 3600, "2d"],
  [51 * 3600, "2d3h"],
  [8 * 86_400, "8d"],
  [729 * 86_400, "729d"],
  [730 * 86_400, "2y"],
  [750 * 86_400, "2y20d"],
  [8 * 365 * 86_400, "8y"],
])("%d s are %s", (seconds, text) => {
  expect(shortAge(seconds * 1000)).toBe(text);
});
