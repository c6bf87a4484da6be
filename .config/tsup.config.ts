import { globSync } from "node:fs"
import { defineConfig } from "tsup"

const isSource = (file: string): boolean => !/\.(test|arbitrary|fixture)\.ts$/.test(file)

/**
 * Every module is an entry of its own: each is a public subpath, and bundlers of using programs take what they need.
 * The types come from `tsc`, one file a module too; bundled, they would live in files that no program can name.
 */
export default defineConfig({
  entry: Object.fromEntries(
    globSync("{core,adapters,conformance}/**/*.ts")
      .filter(isSource)
      .map((file) => [file.replace(/\.ts$/, ""), file])
  ),
  format: "esm",
  target: "node22",
  clean: true,
  treeshake: true,
  // node:sqlite has no other name.
  removeNodeProtocol: false,
  esbuildOptions: (options) => {
    options.chunkNames = "chunks/[hash]"
  }
})
