import { cpSync, globSync, mkdirSync } from "node:fs"
import { defineConfig } from "tsup"

/** Whether a file is part of the package: tests and the self-test of the conformance suite are not. */
const isPackaged = (file: string): boolean =>
  !/\.(test|arbitrary|fixture)\.ts$/.test(file) && !file.startsWith("conformance/selftest/")

/** Copies the files that are served unchanged: the reference page, and Swagger UI with its license. */
const copyReferencePage = (): void => {
  const target = "dist/adapters/pages"
  cpSync("adapters/pages/client", `${target}/client`, {
    recursive: true,
    filter: (file) => !/tsconfig\.json$|\.test\.ts$/.test(file)
  })
  mkdirSync(`${target}/swagger-ui`, { recursive: true })
  for (const name of swaggerUiFiles) {
    cpSync(`node_modules/swagger-ui-dist/${name}`, `${target}/swagger-ui/${name}`)
  }
}

const swaggerUiFiles = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE"
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
  onSuccess: async () => copyReferencePage(),
  treeshake: true,
  // Keeps `node:`, because `node:sqlite` cannot be imported without the prefix.
  removeNodeProtocol: false,
  esbuildOptions: (options) => {
    options.chunkNames = "chunks/[hash]"
  }
})
