import { defineConfig } from "vitest/config"

/** Rooms whose tests need no database. */
const included = [
  "core/**/*.test.ts",
  "adapters/{memory,http-fetch,log}/**/*.test.ts",
  "conformance/**/*.test.ts"
]

/** Tests in these rooms that open sockets, start processes, or run the whole suite many times. */
const excluded = [
  "conformance/gallery/**",
  "conformance/mutants/**",
  "conformance/http/{HostileRun,HostileServer,NodeTransport}.test.ts",
  "conformance/**/{CurlScript,JUnit}.laws.test.ts",
  "conformance/runners/**",
  "conformance/action/**"
]

/** Properties that also assert how many of their cases were interesting, and so need all of them. */
const counting = [
  "adapters/memory/MemoryRateLimitStore.laws.test.ts",
  "conformance/linearizability/*.laws.test.ts",
  "core/limits/{ClockSteps,RateLimit,RateLimitModel,Workers}.laws.test.ts",
  "core/service/Service.laws.test.ts",
  "core/codec/NewPetBody.laws.test.ts"
]

/** Tests that replace modules, and so must not share them with others. */
const replacing = ["conformance/engine/{Replay,Run*.laws}.test.ts"]

/** `npm run test:quick`: what can be tested in under a minute on two cores. `npm test` runs everything. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: included,
          exclude: [...excluded, ...counting, ...replacing],
          setupFiles: [".config/FewerRuns.ts"],
          // Importing effect anew for each file would take as long as all the tests.
          isolate: false
        }
      },
      { extends: true, test: { name: "whole", include: [...counting, ...replacing] } }
    ]
  }
})
