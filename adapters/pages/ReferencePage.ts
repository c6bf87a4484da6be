/**
 * Loads the files of the reference page: Swagger UI at `/docs`, and a start page at `/` for browsers. No file comes
 * from another host.
 */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Header } from "../../core/service/ServiceResponse.ts"
import type { StaticFile } from "../../core/service/StaticFiles.ts"
import * as PageFiles from "./PageFiles.ts"

/** The files of the page cannot be read. */
export class ReferencePageUnreadable extends Data.TaggedError("ReferencePageUnreadable")<{
  readonly cause: unknown
}> {}

/**
 * Reads the files; each is compressed at the first request for its compressed form. `prefix` is the path that a host
 * strips from the targets of requests, such as `/animals`, or empty.
 */
export const files = (prefix = ""): Effect.Effect<ReadonlyArray<StaticFile>, ReferencePageUnreadable> =>
  Effect.tryPromise({
    try: () => {
      const directories = PageFiles.directories()
      return Promise.all(
        entries.map(async ({ directory, name, path, ...rest }) => {
          const bytes = await readFile(new URL(name, directories[directory]))
          return { ...fileOf(path === "/" ? withPrefix(bytes, prefix) : bytes), ...rest, path }
        })
      )
    },
    catch: (cause) => new ReferencePageUnreadable({ cause })
  })

/** Returns the path that precedes the base path in the public base URL, without a trailing slash; empty if unknown. */
export const prefixOf = (publicBaseUrl: string | undefined, basePath: string): string => {
  if (publicBaseUrl === undefined || !URL.canParse(publicBaseUrl)) return ""
  const path = new URL(publicBaseUrl).pathname.replace(/\/$/, "")
  return path.endsWith(basePath) ? path.slice(0, path.length - basePath.length) : ""
}

/**
 * Adds the prefix to the links of the start page. Relative links would not suffice: on a page at `/animals`, without a
 * trailing slash, they lead to `/docs`.
 */
const withPrefix = (html: Uint8Array, prefix: string): Uint8Array => {
  if (prefix === "") return html
  const path = prefix.replaceAll("&", "&amp;")
  const text = new TextDecoder().decode(html)
  return new TextEncoder().encode(
    text.replaceAll(/href="((?:docs|openapi)[^"]*)"/g, (_, name) => `href="${path}/${name}"`)
  )
}

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
  ...fileHeaders
]

interface Entry extends Pick<StaticFile, "path" | "contentType" | "headers" | "isForBrowsers"> {
  readonly directory: keyof PageFiles.Directories
  readonly name: string
}

const page = (path: string, name: string, isForBrowsers: boolean): Entry => ({
  directory: "client",
  name,
  path,
  contentType: "text/html; charset=utf-8",
  headers: pageHeaders,
  isForBrowsers
})

const asset = (directory: keyof PageFiles.Directories, name: string): Entry => ({
  directory,
  name,
  path: `/docs/${name}`,
  contentType: `${name.endsWith(".css") ? "text/css" : "text/javascript"}; charset=utf-8`,
  headers: fileHeaders
})

const entries: ReadonlyArray<Entry> = [
  page("/", "start.html", true),
  page("/docs", "reference.html", false),
  asset("client", "page.css"),
  asset("client", "page.js"),
  asset("client", "ExactJson.js"),
  asset("swaggerUi", "swagger-ui.css"),
  asset("swaggerUi", "swagger-ui-bundle.js")
]
