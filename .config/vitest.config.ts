import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{core,adapters,docs}/**/*.test.ts"],
    testTimeout: 30_000,
    setupFiles: []
  }
})
