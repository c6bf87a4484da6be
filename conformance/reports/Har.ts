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
export const render = (report: Report, subject: Subject): string =>
  `${escaped(JSON.stringify({ log: logOf(report, subject) }, null, 1))}\n`

const logOf = (report: Report, subject: Subject) => {
  const server = HttpSubject.is(subject) ? subject : undefined
  const baseUrl = server?.target.baseUrl
  const origin = baseUrl === undefined ? "http://localhost" : new URL(baseUrl).origin
  const redact = server?.redact ?? ((content: string) => content)
  const clean = (content: string) => redact(content).replace(credentialMember, `$1${REMOVED}`)
  const first = (message: Message, name: string) => clean(headerValues(message, name)[0] ?? "")
  let available = MAX_BODIES_LENGTH
  let omitted = 0
  const contentOf = (message: Message) => {
    const mimeType = first(message, "content-type")
    const content = text(message.body)
    // Before it is searched for credentials, which takes time.
    if (content.length > available) {
      omitted++
      return { mimeType, text: "", comment: "omitted" }
    }
    available -= content.length
    return { mimeType, text: clean(content) }
  }
  const common = ({ body, headers }: Message) => ({
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: headers.map(([name, value]) => ({
      name: clean(name),
      value: credentialHeaders.test(name.trim()) ? REMOVED : clean(value)
    })),
    headersSize: -1,
    bodySize: body?.length ?? 0
  })
  const entries = (server?.exchanges ?? []).flatMap(({ did, from, request, response, to }) => {
    if (response === undefined) return []
    const duration = Math.max(0, Math.round((to - from) * 1_000) / 1_000)
    const url = clean(origin + request.target)
    return [
      {
        startedDateTime: dateOf(from),
        time: duration,
        request: {
          method: clean(request.method),
          url,
          ...common(request),
          // Decoding may reveal a key.
          queryString: [...new URLSearchParams(split(url)[1])].map(([name, value]) => ({
            name: clean(name),
            value: clean(value)
          })),
          ...(request.body === undefined ? {} : { postData: { params: [], ...contentOf(request) } })
        },
        response: {
          status: response.status,
          statusText: "",
          ...common(response),
          content: { size: response.body.length, ...contentOf(response) },
          redirectURL: first(response, "location")
        },
        cache: {},
        timings: { send: 0, wait: duration, receive: 0 },
        comment: clean(did)
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

/** Formats a time. A clock under test may show a time outside of the range of `Date`; the result is then the epoch. */
const dateOf = (epochMs: number): string => {
  const date = new Date(epochMs)
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString()
}
