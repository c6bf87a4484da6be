import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{core,adapters,conformance,docs,bench}/**/*.test.ts"],
    testTimeout: 30_000,
    setupFiles: [],
    // The slow ones mostly wait, for other processes and for time-outs.
    maxWorkers: Math.max(2, availableParallelism() - 1)
  }
})
