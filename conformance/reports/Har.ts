/**
 * Renders all exchanges of a run as an HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), which
 * browsers and proxies can show. Secrets are removed, because the archive is meant to be attached to reports.
 */
import type { Report } from "../engine/Report.ts"
import { split } from "../http/RequestTarget.ts"
import { headerValues, text, type WireRequest } from "../http/Wire.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import { escaped } from "./Json.ts"

/** Maximum total size of the bodies in an archive, in UTF-16 code units, before credentials are removed. */
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
 * members such as `token` are removed, and declared keys are replaced wherever they occur. A body is omitted if all
 * bodies together would exceed 16 MiB; then the archive has a comment about it.
 */
export const render = (report: Report, subject: Subject): string => {
  const redact = HttpSubject.is(subject) ? subject.redact : (content: string) => content
  // Every text is cleaned, because decoding, as of the query, may reveal a key.
  const clean = (_name: string, value: unknown) =>
    typeof value === "string" ? redact(value).replace(credentialMember, `$1${REMOVED}`) : value
  return `${escaped(JSON.stringify({ log: logOf(report, subject) }, clean, 1))}\n`
}

const logOf = (report: Report, subject: Subject) => {
  const server = HttpSubject.is(subject) ? subject : undefined
  const origin =
    server?.target.baseUrl === undefined ? "http://localhost" : new URL(server.target.baseUrl).origin
  let available = MAX_BODIES_LENGTH
  let omitted = 0
  const contentOf = (message: Message) => {
    const mimeType = headerValues(message, "content-type")[0] ?? ""
    const content = text(message.body)
    if (content.length > available) {
      omitted++
      return { mimeType, text: "", comment: "omitted" }
    }
    available -= content.length
    return { mimeType, text: content }
  }
  const entries = (server?.exchanges ?? []).flatMap(({ did, from, request, response, to }) => {
    if (response === undefined) return []
    const duration = Math.max(0, Math.round((to - from) * 1_000) / 1_000)
    const url = origin + request.target
    return [
      {
        startedDateTime: dateOf(from),
        time: duration,
        request: {
          method: request.method,
          url,
          ...common(request),
          queryString: [...new URLSearchParams(split(url)[1])].map(([name, value]) => ({ name, value })),
          ...(request.body === undefined ? {} : { postData: { params: [], ...contentOf(request) } })
        },
        response: {
          status: response.status,
          statusText: "",
          ...common(response),
          content: { size: response.body.length, ...contentOf(response) },
          redirectURL: headerValues(response, "location")[0] ?? ""
        },
        cache: {},
        timings: { send: 0, wait: duration, receive: 0 },
        comment: did
      }
    ]
  })
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

type Message = Pick<WireRequest, "headers" | "body">

/** Returns the fields that requests and responses share. */
const common = ({ body, headers }: Message) => ({
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: headers.map(([name, value]) => ({
    name,
    value: credentialHeaders.test(name.trim()) ? REMOVED : value
  })),
  headersSize: -1,
  bodySize: body?.length ?? 0
})

/** Formats a time. A clock under test may show a time outside of the range of `Date`; the result is then the epoch. */
const dateOf = (epochMs: number): string => {
  const date = new Date(epochMs)
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString()
}
