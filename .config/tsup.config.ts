import { defineConfig } from "tsup"

/** One entry for each public subpath of package.json, and the command line. */
export default defineConfig({
  entry: {
    index: "adapters/embed/index.ts",
    core: "core/index.ts",
    memory: "adapters/memory/index.ts",
    "http-node": "adapters/http-node/index.ts",
    "http-fetch": "adapters/http-fetch/index.ts",
    cli: "adapters/cli/main.ts"
  },
  format: "esm",
  target: "node22",
  dts: {
    entry: {
      index: "adapters/embed/index.ts",
      core: "core/index.ts",
      memory: "adapters/memory/index.ts",
      "http-node": "adapters/http-node/index.ts",
      "http-fetch": "adapters/http-fetch/index.ts"
    }
  },
  clean: true,
  splitting: true,
  treeshake: true,
  sourcemap: false
})
