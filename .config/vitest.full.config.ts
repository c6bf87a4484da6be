import { defineConfig } from "vitest/config"
import { SummaryReporter } from "./SummaryReporter.ts"
import { shared } from "./vitest.config.ts"

/** Configures `npm run test:full` (all projects) and `npm run test:package`. */
export default defineConfig({
  test: {
    ...shared,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ["default", new SummaryReporter({ hasTable: true })],
    projects: [
      {
        extends: true,
        test: {
          name: "full",
          include: ["{core,adapters,conformance,docs,bench}/**/*.full.test.ts"],
          // One file at a time: many of them measure memory and latency.
          fileParallelism: false
        }
      },
      {
        extends: true,
        test: {
          name: "cases",
          include: ["{core,adapters,conformance}/**/*.laws.test.ts"],
          setupFiles: [".config/MoreCases.ts"],
          isolate: false
        }
      },
      {
        extends: true,
        test: {
          name: "package",
          include: ["{core,adapters,conformance,docs,bench}/**/*.package.test.ts"],
          globalSetup: [".config/InstalledPackage.ts"]
        }
      }
    ]
  }
})
