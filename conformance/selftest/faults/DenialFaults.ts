/** Defines faults in the form of denials, such as denials by a gateway in front of the server. */
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

const onDenied = (edit: Edit.Edit): Where => AtHttp.responses({ status: 429 }, edit)

export const faults: ReadonlyArray<Fault> = [
  fault("limits.denied-as-text", "Sends denials as plain text.")
    .breaks("http.json-bodies", "every.json-body", 'not JSON: "Too Many Requests"')
    .by(onDenied(Edit.body("Too Many Requests"))),
  fault("limits.denied-as-html-type", "Sends the JSON of denials as text/html.")
    .breaks("http.json-bodies", "every.json-type", 'as Content-Type "text/html"')
    .by(onDenied(Edit.header("Content-Type", "text/html"))),
  fault("limits.denied-without-type-parameter", "Omits the charset from the content type of denials.")
    .breaks("http.content-type", "every.content-type", "Content-Type: application/json")
    .by(onDenied(Edit.header("Content-Type", "application/json"))),
  fault("limits.denied-without-body", "Sends denials without a body.")
    .breaks("errors.body", "every.error-body", 'with 429 not JSON: ""')
    .by(onDenied(Edit.body(""))),
  fault("limits.denied-with-text-status", "Sends the status in the body of denials as a string.")
    .breaks("errors.body-types", "every.error-body", "status is not an integer")
    .by(onDenied(Edit.members((error) => ({ ...error, status: "429" })))),
  fault("limits.denied-with-other-status", "Sends the status 400 in the body of denials.")
    .breaks("errors.status-matches", "every.error-status", "status 400 in the body")
    .by(onDenied(Edit.members((error) => ({ ...error, status: 400 })))),
  fault("limits.denied-with-more-members", "Adds the wait as a member to the body of denials.")
    .breaks("errors.exact-body", "every.exact-error", "code, message, retryAfter, status")
    .by(onDenied(Edit.members((error) => ({ ...error, retryAfter: 12 })))),
  fault("limits.denied-with-unknown-code", "Uses a code outside the closed set for denials.")
    .breaks("limits.exceeded-code", "every.code", "too_many_requests")
    .by(onDenied(Edit.members((error) => ({ ...error, code: "too_many_requests" })))),
  fault("limits.denied-with-key", "Repeats the credential in the message of denials.")
    .breaks("errors.no-echo", "every.no-echo", "the credential of the request in the message")
    .by(
      onDenied((response, request) =>
        Edit.members((error) => ({ ...error, message: `limit of ${Requests.credentials(request).join()}` }))(
          response
        )
      )
    ),
  fault("limits.denied-with-503", "Denies requests with 503.")
    .breaks("errors.no-5xx", "every.no-5xx", "contract describes 503")
    .by(onDenied(Edit.status(503))),
  fault("limits.method-500", "Returns 500 for a method that a path does not support.")
    .breaks("errors.no-5xx-anywhere", "every.no-5xx-anywhere", "any request 500")
    .by(AtHttp.responses({ status: 405 }, Edit.status(500))),
  fault("limits.denied-with-420", "Denies requests with 420, as some APIs once did.")
    .breaks("errors.listed-statuses", "every.listed-status", "401, 429 420")
    .by(onDenied(Edit.status(420))),
  fault("limits.denied-cacheable", "Allows caches to store denials.")
    .breaks("http.standard-headers", "every.standard-headers", "Cache-Control is missing")
    .by(onDenied(Edit.without("Cache-Control"))),
  fault("limits.denied-with-old-date", "Sends denials with a Date in the past.")
    .breaks("http.date", "every.date", "01 Jan 1970")
    .by(onDenied(Edit.header("Date", new Date(0).toUTCString()))),
  fault("limits.denied-with-one-id", "Sends the same X-Request-Id with all denials.")
    .breaks("http.request-id", "every.request-id", "the id of the previous response")
    .by(onDenied(Edit.header("X-Request-Id", "denied"))),
  fault("limits.denied-with-cors", "Allows pages of every origin to read denials.")
    .breaks("http.no-cors", "every.no-cors", "Access-Control-Allow-Origin: *")
    .by(onDenied(Edit.header("Access-Control-Allow-Origin", "*"))),
  fault("limits.denied-with-redirect", "Redirects denied requests to a page about plans.")
    .breaks("http.no-redirects", "every.no-redirect", "no redirect 302")
    .by(onDenied(Edit.status(302))),
  fault(
    "limits.refills-in-headers",
    "Shows all requests as remaining when more than half of the window is used."
  )
    .breaks("limits.bucket-refill", "every.remaining-arithmetic", "after 2 3 remaining")
    .by(
      RateLimits.showsAdmitted(({ limit, remaining }) => (remaining < limit / 2 ? { remaining: limit } : {}))
    )
]
