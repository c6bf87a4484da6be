/** Laws about bodies and headers of all responses of a run. */
import * as Result from "effect/Result"
import { isFilled, isOfService } from "../../http/ByService.ts"
import * as KeptResponse from "../../http/KeptResponse.ts"
import { header, headerValues } from "../../http/Wire.ts"
import type { AmbientCheck } from "../AmbientCheck.ts"
import { about, DATELESS_SLACK_MS, iso, ofLevel, received, unless, violation } from "./ExchangeLaws.ts"

const JSON_TYPE = "application/json; charset=utf-8"

export const checks: ReadonlyArray<AmbientCheck> = [
  ...ofLevel("spec", [
    {
      id: "every.json-body",
      law: "Every body is JSON.",
      clauses: ["http.json-bodies"],
      isAbout: (exchange) => isFilled(exchange) && isOfService(exchange),
      examine: ({ response }) =>
        Result.match(KeptResponse.jsonOf(response), {
          onSuccess: () => undefined,
          onFailure: (actual) => violation("a JSON body", actual)
        })
    },
    {
      id: "every.json-type",
      law: "A Content-Type that is sent with a body is a JSON media type.",
      clauses: ["http.json-bodies"],
      // A body without Content-Type is allowed: the contract does not require the header.
      isAbout: (exchange) => isFilled(exchange) && isOfService(exchange),
      examine: ({ response }) => {
        const wrong = headerValues(response, "content-type").find(
          (value) => !/^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(value)
        )
        return unless(wrong === undefined, "a JSON media type as Content-Type", JSON.stringify(wrong))
      }
    }
  ]),
  ...ofLevel("design", [
    {
      id: "every.content-type",
      law: "Every response with a body has Content-Type: application/json; charset=utf-8.",
      clauses: ["http.content-type"],
      isAbout: isFilled,
      examine: (exchange) =>
        unless(
          header(exchange.response, "content-type") === JSON_TYPE,
          `Content-Type: ${JSON_TYPE}`,
          received(exchange, "Content-Type")
        )
    },
    {
      id: "every.standard-headers",
      law: "Every response has Date, Cache-Control: no-store, X-Content-Type-Options: nosniff and X-Request-Id.",
      clauses: ["http.standard-headers"],
      isAbout: () => true,
      examine: (exchange) => {
        for (const [name, wanted] of [
          ["Cache-Control", "no-store"],
          ["X-Content-Type-Options", "nosniff"]
        ] as const) {
          if (header(exchange.response, name) !== wanted) {
            return violation(`${name}: ${wanted}`, received(exchange, name))
          }
        }
        const missing = ["Date", "X-Request-Id"].find(
          (name) => (header(exchange.response, name) ?? "") === ""
        )
        return missing === undefined ? undefined : violation(`${missing} once`, received(exchange, missing))
      }
    },
    {
      id: "every.date",
      law: "Date is the service's time, in the form of RFC 9110.",
      clauses: ["http.date"],
      ...about(
        ({ response }) => header(response, "date"),
        (value, exchange) => {
          const date = Date.parse(value)
          if (Number.isNaN(date) || new Date(date).toUTCString() !== value) {
            return violation("Date as an IMF-fixdate", JSON.stringify(value))
          }
          const isNow =
            date >= exchange.sentAt - DATELESS_SLACK_MS && date <= exchange.receivedAt + DATELESS_SLACK_MS
          return unless(isNow, `a Date near ${iso(exchange)}, the service's time`, value)
        }
      )
    },
    {
      id: "every.request-id",
      law: "No two consecutive responses have the same X-Request-Id.",
      clauses: ["http.request-id"],
      ...about(
        ({ response }, _previous, history) => {
          const id = header(response, "x-request-id")
          const latest = history.at(-1)
          return id === undefined || latest === undefined
            ? undefined
            : { id, before: header(latest.response, "x-request-id") }
        },
        ({ before, id }) => unless(before !== id, "a new X-Request-Id", "the id of the previous response")
      )
    },
    {
      id: "every.no-cors",
      law: "No response has CORS headers.",
      clauses: ["http.no-cors"],
      isAbout: () => true,
      examine: ({ response }) => {
        const found = response.headers.find(([name]) => name.toLowerCase().startsWith("access-control-"))
        return unless(found === undefined, "no CORS headers", `${found?.join(": ")}`)
      }
    },
    {
      id: "every.no-redirect",
      law: "No response is a redirect.",
      clauses: ["http.no-redirects"],
      isAbout: () => true,
      examine: ({ response: { status } }) =>
        unless(status < 300 || status >= 400, "no redirect", String(status))
    }
  ])
]
