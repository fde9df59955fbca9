import { defineConfig } from "vitest/config";

/**
 * One file for all tiers; a tier is a mode. Without one, `vitest run` runs the unit and contract tests.
 *
 *     vitest run                      unit and contract tests: packages, tools, proto
 *     vitest run --mode simulation    the invariants under random faults: *.sim.test.ts
 *     vitest run --mode e2e           real containerd, as root: e2e/ and *.e2e.test.ts
 *     vitest run --mode bench         the benches, once and small: bench/
 *     vitest run --mode pack          the packed packages in an empty project: *.pack.test.ts
 */
const tiers: Record<
  string,
  { include: string[]; exclude: string[]; testTimeout: number; fileParallelism: boolean; globalSetup?: string[] }
> = {
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "e2e/{golden,cases}/**/*.test.ts",
      "tools/**/*.test.ts",
      "scripts/**/*.test.ts",
      "proto/**/*.test.ts",
    ],
    exclude: ["**/*.{sim,e2e,pack}.test.ts"],
    testTimeout: 20_000,
    fileParallelism: true,
  },
  simulation: {
    include: ["packages/*/src/**/*.sim.test.ts"],
    exclude: [],
    testTimeout: 300_000,
    fileParallelism: true,
  },
  e2e: {
    include: ["e2e/**/*.test.ts", "packages/*/src/**/*.e2e.test.ts"],
    exclude: ["**/*.pack.test.ts", "e2e/{golden,cases}/**"],
    testTimeout: 180_000,
    fileParallelism: false,
  },
  bench: {
    include: ["bench/**/*.test.ts"],
    exclude: [],
    testTimeout: 300_000,
    fileParallelism: false,
  },
  pack: {
    include: ["{tools,scripts,examples,e2e}/**/*.pack.test.ts"],
    globalSetup: ["tools/build/pack-tier.config.ts"],
    exclude: [],
    testTimeout: 300_000,
    fileParallelism: false,
  },
};

const conditions = ["nodelet-source", "node", "module", "import", "default"];

export default defineConfig(({ mode }) => {
  const tier = tiers[mode];
  if (tier === undefined) {
    throw new Error(`unknown tier --mode ${mode}: expected one of ${Object.keys(tiers).join(", ")}`);
  }
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      ...tier,
      exclude: ["**/node_modules/**", "**/dist/**", ...tier.exclude],
      environment: "node",
      pool: "forks",
      execArgv: ["--conditions=nodelet-source"],
      maxWorkers: 2,
      hookTimeout: tier.testTimeout,
      passWithNoTests: false,
    },
  };
});
