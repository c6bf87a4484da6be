/**
 * Loads the files of the reference page: Swagger UI at `/docs`, and a start page at `/` for browsers. No file comes
 * from another host.
 */
import type * as Effect from "effect/Effect"
import type { StaticFile } from "../../core/service/StaticFiles.ts"
import * as PageFiles from "./PageFiles.ts"

/**
 * Reads the files. `prefix` is the path that a host strips from the targets of requests, such as `/animals`, or empty.
 */
export const files = (prefix = ""): Effect.Effect<ReadonlyArray<StaticFile>, PageFiles.PageUnreadable> =>
  PageFiles.load(entries, (html) => withPrefix(html, prefix))

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

const entries: ReadonlyArray<PageFiles.Entry> = [
  { path: "/", name: "start.html", isForBrowsers: true },
  { path: "/docs", name: "reference.html" },
  { path: "/docs/oat.css", name: "oat.min.css", origin: "@knadh/oat" },
  { path: "/docs/theme.css", name: "css/01-theme.css", origin: "@knadh/oat" },
  ...["reference.css", "page.js", "ExactJson.js"].map((name) => ({
    path: `/docs/${name}`,
    name
  })),
  ...["swagger-ui.css", "swagger-ui-bundle.js"].map((name) => ({
    path: `/docs/${name}`,
    name,
    origin: "swagger-ui-dist" as const
  }))
]
