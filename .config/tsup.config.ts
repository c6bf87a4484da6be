import { cpSync, globSync } from "node:fs"
import { defineConfig } from "tsup"

/** Whether a file is part of the package: tests and the self-test of the conformance suite are not. */
const isPackaged = (file: string): boolean =>
  !/\.(test|arbitrary|fixture|d)\.ts$/.test(file) && !file.startsWith("conformance/selftest/")

/** Copies the files that are served unchanged: our own, and those of packages with their licenses. */
const copyPages = (): void => {
  const target = "dist/adapters/pages"
  cpSync("adapters/pages/client", `${target}/client`, {
    recursive: true,
    filter: (file) => !/tsconfig\.json$|\.ts$/.test(file)
  })
  for (const file of served) cpSync(`node_modules/${file}`, `${target}/${file}`)
}

const served = [
  "@knadh/oat/oat.min.css",
  "@knadh/oat/css/01-theme.css",
  "@knadh/oat/LICENSE",
  "lit-html/lit-html.js",
  "lit-html/LICENSE",
  "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui-dist/swagger-ui.css",
  "swagger-ui-dist/LICENSE",
  "swagger-ui-dist/NOTICE"
]

/**
 * Writes one output file for each module: bundlers load only the modules that a program uses, and stack traces name the
 * module. The entry points for programs are the `exports` in `package.json`. `tsc` writes the declarations, with one
 * file per module, because tsup would move shared types into files with generated names.
 */
export default defineConfig({
  entry: Object.fromEntries(
    globSync("{core,adapters,conformance}/**/*.ts")
      .filter(isPackaged)
      .map((file) => [file.replace(/\.ts$/, ""), file])
  ),
  format: "esm",
  target: "node22",
  clean: true,
  onSuccess: async () => copyPages(),
  treeshake: true,
  // Keeps `node:`, because `node:sqlite` cannot be imported without the prefix.
  removeNodeProtocol: false,
  esbuildOptions: (options) => {
    options.chunkNames = "chunks/[hash]"
  }
})
