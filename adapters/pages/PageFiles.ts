/** Locates and loads the files of the pages, in a clone and in the built package. No file comes from another host. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Header } from "../../core/service/ServiceResponse.ts"
import type { StaticFile } from "../../core/service/StaticFiles.ts"

/** URLs that locate our own files and the files of Swagger UI. */
interface Directories {
  readonly client: URL
  readonly swaggerUi: URL
}

/** Returns the directories; throws if the package is not installed where the program runs. */
const directories = (): Directories => {
  if (import.meta.url.endsWith(".ts")) {
    const manifest = createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")
    return { client: new URL("./client/", import.meta.url), swaggerUi: pathToFileURL(manifest) }
  }
  // The build bundles modules into other files, so `import.meta.url` does not locate the files of the page.
  const built = new URL("./dist/adapters/pages/", import.meta.resolve("animal-store/package.json"))
  return { client: new URL("./client/", built), swaggerUi: new URL("./swagger-ui/", built) }
}

/** The files of the page cannot be read. */
export class PageUnreadable extends Data.TaggedError("PageUnreadable")<{
  readonly cause: unknown
}> {}

/**
 * Reads the files; each is compressed at the first request for its compressed form. `toStartPage` changes the page at
 * `/`.
 */
export const load = (
  entries: ReadonlyArray<Entry>,
  toStartPage: (html: Uint8Array) => Uint8Array = (html) => html
): Effect.Effect<ReadonlyArray<StaticFile>, PageUnreadable> =>
  Effect.tryPromise({
    try: () => {
      const found = directories()
      return Promise.all(
        entries.map(async ({ directory, name, path, ...rest }) => {
          const bytes = await readFile(new URL(name, found[directory]))
          return { ...fileOf(path === "/" ? toStartPage(bytes) : bytes), ...rest, path }
        })
      )
    },
    catch: (cause) => new PageUnreadable({ cause })
  })

const compress = promisify(zlib.gzip)

const fileOf = (bytes: Uint8Array): Pick<StaticFile, "bytes" | "version" | "gzip"> => {
  let compressed: Promise<Uint8Array> | undefined
  return {
    bytes,
    version: createHash("sha256").update(bytes).digest("base64url").slice(0, 22),
    gzip: Effect.promise(() => {
      compressed ??= compress(bytes, { level: zlib.constants.Z_BEST_COMPRESSION })
      compressed.catch(() => {
        compressed = undefined
      })
      return compressed
    })
  }
}

/** Allows pages to load and call only this service; forbids inline code, and framing by other pages. */
const policy = [
  ["default-src", "'none'"],
  ["script-src", "'self'"],
  ["style-src", "'self'"],
  // Swagger UI's style sheet contains its icons.
  ["img-src", "'self' data:"],
  ["connect-src", "'self'"],
  ["base-uri", "'none'"],
  ["form-action", "'none'"],
  ["frame-ancestors", "'none'"]
]

const fileHeaders: ReadonlyArray<Header> = [["Cross-Origin-Resource-Policy", "same-origin"]]

const pageHeaders: ReadonlyArray<Header> = [
  ["Content-Security-Policy", policy.map((directive) => directive.join(" ")).join("; ")],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["X-Frame-Options", "DENY"],
  ...fileHeaders
]

/** A file, and the path at which it is served. */
export interface Entry extends Pick<StaticFile, "path" | "contentType" | "headers" | "isForBrowsers"> {
  readonly directory: keyof Directories
  readonly name: string
}

/** Returns the entry of a page. */
export const page = (path: string, name: string, isForBrowsers = false): Entry => ({
  directory: "client",
  name,
  path,
  contentType: "text/html; charset=utf-8",
  headers: pageHeaders,
  isForBrowsers
})

/** Returns the entry of a script or a style sheet in the directory `base`. */
export const asset = (base: string, name: string, directory: keyof Directories = "client"): Entry => ({
  directory,
  name,
  path: base + name,
  contentType: `${name.endsWith(".css") ? "text/css" : "text/javascript"}; charset=utf-8`,
  headers: fileHeaders
})
