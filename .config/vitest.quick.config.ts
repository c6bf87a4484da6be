import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Directories whose tests need no database. */
const included = [
  "core/**/*.test.ts",
  "adapters/{memory,http-fetch,log}/**/*.test.ts",
  "conformance/**/*.test.ts"
]

/** Slow tests in the included directories: they open sockets, start processes, or run the whole suite many times. */
const excluded = [
  "conformance/foreign/**",
  "conformance/gallery/**",
  "conformance/mutants/**",
  "conformance/http/{HostileRun,HostileServer,NodeTransport}.test.ts",
  "conformance/**/{CurlScript,JUnit}.laws.test.ts",
  "conformance/runners/**",
  "conformance/subjects/curl/**",
  "conformance/action/**"
]

/** Properties that need all their cases, because they also assert how many of their cases met a condition. */
const counting = [
  "adapters/memory/MemoryRateLimitStore.laws.test.ts",
  "conformance/linearizability/*.laws.test.ts",
  "core/limits/{ClockSteps,RateLimit,RateLimitModel,Windows,Workers}.laws.test.ts",
  "core/transfer/Import.laws.test.ts",
  "core/service/Service.laws.test.ts",
  "core/codec/NewPetBody.laws.test.ts"
]

/** Tests that mock modules, and therefore need their own module registry. */
const mocking = ["conformance/engine/{Replay,Run*.laws}.test.ts"]

/** Configures `npm run test:quick`, which takes less than a minute on two cores. `npm test` runs all tests. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    // By default, Vitest leaves one core free, which means a single worker on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: included,
          exclude: [...excluded, ...counting, ...mocking],
          setupFiles: [".config/FewerRuns.ts"],
          // Shares modules between files: importing effect again for each file would take as long as running all the
          // tests.
          isolate: false
        }
      },
      { extends: true, test: { name: "full", include: [...counting, ...mocking] } }
    ]
  }
})
