/** Where the files of the reference page are: in a clone, and in the built package. */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** The folders with the files of the page, and with those of Swagger UI. */
export interface Folders {
  readonly client: URL
  readonly swaggerUi: URL
}

/** Returns the folders; throws if the package is not installed where the program runs. */
export const folders = (): Folders => {
  if (import.meta.url.endsWith(".ts")) {
    const manifest = createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")
    return { client: new URL("./client/", import.meta.url), swaggerUi: pathToFileURL(manifest) }
  }
  // Built modules share files with other names, so the place of this one says nothing.
  const built = new URL("./dist/adapters/reference-page/", import.meta.resolve("animal-store/package.json"))
  return { client: new URL("./client/", built), swaggerUi: new URL("./swagger-ui/", built) }
}
