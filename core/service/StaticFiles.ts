/** Serves files outside the base path that need no key, such as a reference page; adapters provide their content. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Replies from "./Replies.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/** A file with its representations. */
export interface StaticFile {
  /** The path of the request target, such as `/docs`. */
  readonly path: string
  /** The value of `Content-Type`. */
  readonly contentType: string
  /** Identifies the content, with characters that are allowed in an entity tag (RFC 9110 §8.8.3). */
  readonly version: string
  /** The bytes, which all responses share. */
  readonly bytes: Uint8Array
  /** The bytes compressed with gzip. The effect runs for each response, so its result should be cached. */
  readonly gzip: Effect.Effect<Uint8Array>
  /** Additional headers, such as `Content-Security-Policy`. */
  readonly headers: ReadonlyArray<ServiceResponse.Header>
  /** Whether only requests with `text/html` in `Accept` get the file; browsers send this type when they load a page. */
  readonly isForBrowsers?: boolean | undefined
}

/** The files of the service; no files by default. */
export const StaticFiles = Context.Reference<ReadonlyArray<StaticFile>>(
  "animal-store/core/service/StaticFiles",
  { defaultValue: () => [] }
)

/** Creates a function that responds to requests for the files; it returns `undefined` for other paths. */
export const make = (files: ReadonlyArray<StaticFile>) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  return (request: ServiceRequest, path: string): Effect.Effect<ServiceResponse.Reply> | undefined => {
    const file = byPath.get(path)
    const isRead = request.method === "GET" || request.method === "HEAD"
    if (file === undefined) return isRead ? redirect(byPath, path) : undefined
    if (file.isForBrowsers === true && !(isRead && accepts(request.header("accept"), "text/html")))
      return undefined
    if (isRead) return respondWithFile(file, request)
    return Effect.succeed(Replies.toWrite(request.method))
  }
}

/** Redirects from a file's path with a trailing slash; the location is relative, because hosts may strip a prefix. */
const redirect = (
  files: ReadonlyMap<string, StaticFile>,
  path: string
): Effect.Effect<ServiceResponse.Reply> | undefined => {
  if (!path.endsWith("/") || !files.has(path.slice(0, -1))) return undefined
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1, -1)
  if (name === "") return undefined
  return Effect.succeed(ServiceResponse.make(308, "", ["Location", `../${name}`]))
}

const respondWithFile = (file: StaticFile, request: ServiceRequest): Effect.Effect<ServiceResponse.Reply> => {
  const isCompressed = accepts(request.header("accept-encoding"), "gzip")
  // The two representations differ, so they need two strong entity tags (RFC 9110 §8.8.3.3).
  const tag = isCompressed ? `"${file.version}-gzip"` : `"${file.version}"`
  const caching = [
    // A browser stores the file and revalidates it on each use.
    ...["Cache-Control", "no-cache"],
    ...["ETag", tag],
    ...["Vary", file.isForBrowsers === true ? "Accept, Accept-Encoding" : "Accept-Encoding"]
  ]
  if (isUnchanged(request.header("if-none-match"), tag)) {
    return Effect.succeed(ServiceResponse.make(304, "", caching))
  }
  const headers = [
    ...["Content-Type", file.contentType],
    ...(isCompressed ? ["Content-Encoding", "gzip"] : []),
    ...caching,
    ...file.headers.flat()
  ]
  const bytes = isCompressed ? file.gzip : Effect.succeed(file.bytes)
  return Effect.map(bytes, (content) => ({ status: 200, headers, body: "", bytes: content }))
}

/**
 * Returns whether a list such as `gzip;q=0.5, br` (RFC 9110 §12.4.2) names an item, with a weight above 0. Wildcards,
 * which other clients than browsers send, do not count.
 */
const accepts = (list: string | undefined, name: string): boolean => {
  for (const item of (list ?? "").toLowerCase().split(",")) {
    const [first = "", ...parameters] = item.split(";").map((part) => part.trim())
    if (first !== name) continue
    const weight = parameters.find((parameter) => parameter.startsWith("q="))
    return weight === undefined || Number(weight.slice(2)) > 0
  }
  return false
}

/** Returns whether `If-None-Match` contains the tag or `*`; the comparison is weak (RFC 9110 §13.1.2). */
const isUnchanged = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? "").split(",").some((item) => {
    const candidate = item.trim().replace(/^W\//, "")
    return candidate === tag || candidate === "*"
  })
