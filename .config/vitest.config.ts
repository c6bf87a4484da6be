import * as os from "node:os"
import * as path from "node:path"
import { defineConfig } from "vitest/config"
import { SummaryReporter } from "./SummaryReporter.ts"

/** Tests of `npm run test:full` and `npm run test:package`; `npm test` runs all others. */
const others = ["**/node_modules/**", "**/*.{full,package}.test.ts"]

/** Tests that mock modules, so that each file needs its own module registry. */
const mocking = "{core,adapters,conformance,docs,bench}/**/*.mocked.test.ts"

export const shared = {
  // Bounds for slow machines: a test waits for conditions, and ends long before on an idle one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  restoreMocks: true,
  // At least two workers: slow tests mostly wait for other processes.
  maxWorkers: Math.max(2, os.availableParallelism() - 1),
  // Child processes load the sources from Node's compile cache, which saves a quarter of a server's start.
  env: { NODE_COMPILE_CACHE: path.join(os.tmpdir(), "animal-store-compile-cache") }
}

/** Configures `npm test`. */
export default defineConfig({
  test: {
    ...shared,
    reporters: ["default", new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["{core,adapters,conformance,docs,bench}/**/*.test.ts"],
          exclude: [...others, mocking],
          // Files share modules: importing effect again for each file would take as long as running all tests.
          isolate: false
        }
      },
      { extends: true, test: { name: "mocked", include: [mocking] } }
    ]
  }
})
