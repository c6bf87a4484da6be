import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{core,adapters,conformance,docs,bench}/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: [],
    // At least two workers: slow tests mostly wait for other processes and for timeouts.
    maxWorkers: Math.max(2, availableParallelism() - 1)
  }
})
