/** Locates the files of the reference page, in a clone and in the built package. */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** URLs that locate the page's own files and the files of Swagger UI. */
export interface Directories {
  readonly client: URL
  readonly swaggerUi: URL
}

/** Returns the directories; throws if the package is not installed where the program runs. */
export const directories = (): Directories => {
  if (import.meta.url.endsWith(".ts")) {
    const manifest = createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")
    return { client: new URL("./client/", import.meta.url), swaggerUi: pathToFileURL(manifest) }
  }
  // The build bundles modules into other files, so `import.meta.url` does not locate the files of the page.
  const built = new URL("./dist/adapters/pages/", import.meta.resolve("animal-store/package.json"))
  return { client: new URL("./client/", built), swaggerUi: new URL("./swagger-ui/", built) }
}
