/** Locates and loads the files of the pages, in a clone and in the built package. No file comes from another host. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Header } from "../../core/service/ServiceResponse.ts"
import type { StaticFile } from "../../core/service/StaticFiles.ts"

/** The directory of our own files, or the package that has the file; the build copies its files. */
type Origin = "client" | "@knadh/oat" | "lit-html" | "swagger-ui-dist"

/** Returns the URL of a file; throws if the package is not installed where the program runs. */
const locate = (origin: Origin, name: string): URL => {
  if (!import.meta.url.endsWith(".ts")) {
    // The build bundles modules into other files, so `import.meta.url` does not locate the files of the page.
    const manifest = import.meta.resolve("animal-store/package.json")
    return new URL(`./dist/adapters/pages/${origin}/${name}`, manifest)
  }
  if (origin === "client") return new URL(`./client/${name}`, import.meta.url)
  return new URL(name, pathToFileURL(findPackageJSON(origin, import.meta.url) ?? ""))
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
    try: () =>
      Promise.all(
        entries.map(async ({ isForBrowsers, name, origin = "client", path }) => {
          const bytes = await readFile(locate(origin, name))
          const extension = name.replace(/.*\./, "")
          return {
            ...fileOf(path === "/" ? toStartPage(bytes) : bytes),
            contentType: `${contentTypes[extension]}; charset=utf-8`,
            headers: extension === "html" ? pageHeaders : fileHeaders,
            isForBrowsers,
            path
          }
        })
      ),
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
export interface Entry extends Pick<StaticFile, "path" | "isForBrowsers"> {
  readonly name: string
  readonly origin?: Origin
}

const contentTypes: { readonly [extension: string]: string } = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript"
}
