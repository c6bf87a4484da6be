import { cpSync, globSync, mkdirSync } from "node:fs"
import { defineConfig } from "tsup"

const isSource = (file: string): boolean => !/\.(test|arbitrary|fixture)\.ts$/.test(file)

/** The reference page is served as it is: its own files, and those of Swagger UI with their licence. */
const copyReferencePage = (): void => {
  const target = "dist/adapters/reference-page"
  cpSync("adapters/reference-page/client", `${target}/client`, {
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
  onSuccess: async () => copyReferencePage(),
  treeshake: true,
  // node:sqlite has no other name.
  removeNodeProtocol: false,
  esbuildOptions: (options) => {
    options.chunkNames = "chunks/[hash]"
  }
})
