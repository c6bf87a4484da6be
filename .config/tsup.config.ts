import { globSync } from "node:fs"
import { defineConfig } from "tsup"

const isSource = (file: string): boolean => !/\.(test|arbitrary|fixture)\.ts$/.test(file)

/**
 * One output file for each module: bundlers load only what a program uses, and stack traces name the module. The entry
 * points that programs may import are those of `exports` in `package.json`. `tsc` writes the declarations, also one file
 * for each module, because tsup would move shared types into files without a name.
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
