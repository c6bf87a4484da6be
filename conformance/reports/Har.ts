/**
 * Renders all exchanges of a run as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), which
 * browsers and proxies can show. Secrets are removed, because the archive is meant to be attached to reports.
 */
import type { Report } from "../engine/Report.ts"
import { type Header, headerValues, text, type WireResponse } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import { escaped } from "./Json.ts"

/** Maximum total size of the bodies in an archive, in UTF-16 code units. */
const MAX_BODIES_LENGTH = 16 * 2 ** 20

/** Headers whose value is a credential. */
const credentialHeaders =
  /^(authorization|proxy-authorization|cookie|set-cookie|(x-)?(api-?key|auth-token|access-token))$/i

/** A member of a JSON body whose value is a credential. */
const credentialMember =
  /("(?:[a-z0-9]+[_-])*(?:token|secret|password|api[_-]?key|apikey|authorization|credentials?)"\s*:\s*")((?:[^"\\]|\\.)*)/gi

const REMOVED = "‹removed›"

/**
 * Renders the archive as JSON; it has no entries for ports. The values of `Authorization`, of cookies and of JSON
 * members such as `token` are removed, and declared keys are replaced wherever they occur. A body is omitted if all bodies together would exceed 16 MiB; then the archive has a comment about it.
 */
export const render = (report: Report, subject: Subject): string =>
  `${escaped(JSON.stringify({ log: logOf(report, subject) }, null, 1))}\n`

const logOf = (report: Report, subject: Subject) => {
  const server = HttpSubject.is(subject) ? subject : undefined
  const baseUrl = server?.target.baseUrl
  const origin = baseUrl === undefined ? "http://localhost" : new URL(baseUrl).origin
  const clean = createCleaner(server?.redact ?? ((content) => content))
  let available = MAX_BODIES_LENGTH
  let omitted = 0
  const takeFromBudget = (content: string): string | undefined => {
    if (content.length > available) {
      omitted++
      return undefined
    }
    available -= content.length
    return content
  }
  const entries = (server?.exchanges ?? []).flatMap((exchange) =>
    exchange.response === undefined
      ? []
      : [entryOf({ ...exchange, response: exchange.response }, origin, clean, takeFromBudget)]
  )
  const withoutResponse = report.requests - entries.length
  const notes = [
    "Credentials are removed.",
    "Times are those of the server's clock, which a run may move.",
    "Bodies are text; bytes that are not UTF-8 are shown as U+FFFD.",
    ...(withoutResponse > 0 ? [`${withoutResponse} requests had no response and are not listed.`] : []),
    ...(omitted > 0 ? [`${omitted} bodies are omitted, because all bodies together exceed 16 MiB.`] : [])
  ]
  return {
    version: "1.2",
    creator: { name: report.suite.name, version: report.suite.version },
    comment: notes.join(" "),
    entries
  }
}

type Clean = (content: string) => string

const entryOf = (
  { did, from, request, response, to }: Exchange & { readonly response: WireResponse },
  origin: string,
  clean: Clean,
  takeFromBudget: (content: string) => string | undefined
) => {
  const duration = Math.max(0, Math.round((to - from) * 1_000) / 1_000)
  const url = clean(origin + request.target)
  const requestBody = request.body === undefined ? undefined : takeFromBudget(clean(text(request.body)))
  const responseBody = takeFromBudget(clean(text(response.body)))
  return {
    startedDateTime: dateOf(from),
    time: duration,
    request: {
      method: clean(request.method),
      url,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: headersOf(request.headers, clean),
      queryString: queryOf(url, clean),
      headersSize: -1,
      bodySize: request.body?.length ?? 0,
      ...(request.body === undefined
        ? {}
        : {
            postData: {
              mimeType: clean(headerValues(request, "content-type")[0] ?? ""),
              params: [],
              text: requestBody ?? "",
              ...(requestBody === undefined ? { comment: "omitted" } : {})
            }
          })
    },
    response: {
      status: response.status,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: headersOf(response.headers, clean),
      content: {
        size: response.body.length,
        mimeType: clean(headerValues(response, "content-type")[0] ?? ""),
        text: responseBody ?? "",
        ...(responseBody === undefined ? { comment: "omitted" } : {})
      },
      redirectURL: clean(headerValues(response, "location")[0] ?? ""),
      headersSize: -1,
      bodySize: response.body.length
    },
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: clean(did)
  }
}

/** Formats a time. A clock under test may show a time outside of the range of `Date`; the result is then the epoch. */
const dateOf = (epochMs: number): string => {
  const date = new Date(epochMs)
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString()
}

const headersOf = (headers: ReadonlyArray<Header>, clean: Clean) =>
  headers.map(([name, value]) => ({
    name: clean(name),
    value: credentialHeaders.test(name.trim()) ? REMOVED : clean(value)
  }))

/** Decodes the parameters of a URL, and redacts them again, because decoding may reveal a key. */
const queryOf = (url: string, clean: Clean) => {
  const queryAt = url.indexOf("?")
  return queryAt < 0
    ? []
    : [...new URLSearchParams(url.slice(queryAt + 1))].map(([name, value]) => ({
        name: clean(name),
        value: clean(value)
      }))
}

/** Maximum length in UTF-16 code units of a text whose redacted form is cached, because headers repeat. */
const MAX_CACHED_LENGTH = 200

/** Maximum number of texts whose redacted form is cached. */
const MAX_CACHED_TEXTS = 100_000

const createCleaner = (redact: Clean): Clean => {
  const cache = new Map<string, string>()
  return (content) => {
    const cached = cache.get(content)
    if (cached !== undefined) return cached
    const clean = redact(content).replace(credentialMember, `$1${REMOVED}`)
    if (content.length <= MAX_CACHED_LENGTH && cache.size < MAX_CACHED_TEXTS) cache.set(content, clean)
    return clean
  }
}
