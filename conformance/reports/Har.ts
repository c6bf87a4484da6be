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

/**
 * Renders the archive as JSON; it has no entries for ports. The values of `Authorization` and of cookies are removed,
 * and declared keys are replaced wherever they occur. A body is omitted if all bodies together would exceed 16 MiB.
 */
export const render = (report: Report, subject: Subject): string => {
  const redact = HttpSubject.is(subject) ? subject.redact : (content: string) => content
  // Every text is cleaned, because decoding, as of the query, may reveal a key.
  const clean = (_name: string, value: unknown) => (typeof value === "string" ? redact(value) : value)
  return `${escaped(JSON.stringify({ log: logOf(report, subject) }, clean, 1))}\n`
}

const COMMENT =
  "Credentials are removed. Requests without a response are not listed, and bodies beyond 16 MiB in all are omitted. Times are those of the server's clock, which a run may move. Bodies are text; bytes that are not UTF-8 are shown as U+FFFD."

const logOf = (report: Report, subject: Subject) => {
  const server = HttpSubject.is(subject) ? subject : undefined
  const origin =
    server?.target.baseUrl === undefined ? "http://localhost" : new URL(server.target.baseUrl).origin
  let available = MAX_BODIES_LENGTH
  const contentOf = (message: Message) => {
    const mimeType = headerValues(message, "content-type")[0] ?? ""
    const content = text(message.body)
    if (content.length > available) return { mimeType, text: "", comment: "omitted" }
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
  return {
    version: "1.2",
    creator: { name: report.suite.name, version: report.suite.version },
    comment: COMMENT,
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
    value: credentialHeaders.test(name.trim()) ? "‹removed›" : value
  })),
  headersSize: -1,
  bodySize: body?.length ?? 0
})

/** Formats a time. A clock under test may show a time outside of the range of `Date`; the result is then the epoch. */
const dateOf = (epochMs: number): string => {
  const date = new Date(epochMs)
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString()
}
