/** Laws about the statuses and Error bodies of all responses of a run (contract §7). */
import * as Result from "effect/Result"
import { catalogue } from "../../../core/errors/ErrorCatalogue.ts"
import { hasBody, isOfService } from "../../http/ByService.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { headerValues } from "../../http/Wire.ts"
import type { AmbientCheck } from "../AmbientCheck.ts"
import {
  about,
  describedAs,
  errorOf,
  hasDeclaredKey,
  momentsOf,
  ofLevel,
  unless,
  violation
} from "./ExchangeLaws.ts"

/** Statuses that the contract lists for each operation. */
const listed = {
  list: [200, 401, 429],
  create: [201, 400, 401, 429],
  get: [200, 401, 404, 429]
} as const satisfies { readonly [operation: string]: ReadonlyArray<number> }

/** Whether the key cannot be banned, because only a 429 can lead to a ban (contract §8.4.3). */
const isInGoodStanding = (history: ReadonlyArray<Exchange>): boolean => {
  // The order of decisions on concurrent requests is unknown.
  const latest = history.findLast(
    ({ isAlone, response: { status } }) => status === 429 || (isAlone && status !== 401 && status !== 403)
  )
  return latest?.response.status !== 429
}

/** The status that belongs to each code of the catalogue. */
const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries(catalogue).map(([code, { status }]) => [code, status])
)

/** Maximum length of a message in UTF-16 code units; a longer one is assumed to repeat long input. */
const MAX_MESSAGE_LENGTH = 400

/** Minimum length of a credential whose presence in a message cannot be a coincidence. */
const MIN_SECRET_LENGTH = 8

export const checks: ReadonlyArray<AmbientCheck> = [
  ...ofLevel("spec", [
    {
      id: "every.error-body",
      law: "Every response with status 400 or more has an Error body: code and message are not blank strings, status is an integer.",
      clauses: ["errors.body", "errors.body-types"],
      isAbout: (exchange) => exchange.response.status >= 400 && hasBody(exchange) && isOfService(exchange),
      examine: ({ response }) =>
        Result.match(ErrorBody.of(response), {
          onSuccess: () => undefined,
          onFailure: (actual) => violation(`an Error body with ${response.status}`, actual)
        })
    },
    {
      id: "every.error-status",
      law: "The status in an Error body is the HTTP status of the response.",
      clauses: ["errors.status-matches"],
      ...about(errorOf, (body, { response: { status } }) =>
        unless(
          body.status === status,
          `status ${status} in the body, as in the response`,
          `status ${body.status} in the body`
        )
      )
    },
    {
      id: "every.no-5xx",
      law: "No response to a request that the contract describes is 5xx.",
      clauses: ["errors.no-5xx"],
      isAbout: (exchange) => describedAs(exchange) !== undefined,
      examine: ({ response: { status } }) =>
        unless(status < 500, "no 5xx to a request that the contract describes", String(status))
    },
    {
      id: "every.listed-status",
      law: "A request that the contract describes gets a status that the contract lists for the operation.",
      clauses: ["errors.listed-statuses"],
      ...about(
        (exchange, _previous, history) => {
          const operation = describedAs(exchange)
          const { status } = exchange.response
          if (operation === undefined || status >= 500 || !isOfService(exchange)) return undefined
          if (operation === "get" && momentsOf(exchange)[1] >= REMOVAL_BEGINS) return undefined
          // The response to a banned key is open (contract §8.4.3), and only a 429 can have led to a ban.
          if (status === 403 && history.some(({ response }) => response.status === 429)) return undefined
          return operation
        },
        (operation, { response: { status } }) => {
          const allowed: ReadonlyArray<number> = listed[operation]
          return unless(allowed.includes(status), `one of ${allowed.join(", ")}`, String(status))
        }
      )
    },
    {
      id: "every.valid-key-accepted",
      law: "No operation rejects a valid key with 401, unless the key got a 429 before.",
      clauses: ["auth.bearer"],
      isAbout: (exchange, _previous, history) =>
        hasDeclaredKey(exchange) && describedAs(exchange) !== undefined && isInGoodStanding(history),
      examine: ({ key, response: { status } }) =>
        unless(status !== 401, `the ${key} key to be accepted`, "401")
    },
    {
      id: "every.key-required",
      profile: "auth",
      law: "No request without a key succeeds.",
      clauses: ["auth.required"],
      isAbout: (exchange) => exchange.key === "none" && describedAs(exchange) !== undefined,
      examine: ({ response: { status } }) =>
        unless(status < 200 || status > 299, "no success without a key", String(status))
    }
  ]),
  ...ofLevel("design", [
    {
      id: "every.exact-error",
      law: "An Error body has the members code, message and status, and no others.",
      clauses: ["errors.exact-body"],
      isAbout: (exchange) => exchange.response.status >= 400 && hasBody(exchange),
      examine: (exchange) => {
        const members = errorOf(exchange)?.members.toSorted().join(", ")
        return unless(
          members === "code, message, status",
          "an Error with only code, message and status",
          members ?? "no Error"
        )
      }
    },
    {
      id: "every.code",
      law: "Every code is in the closed set and has the status that belongs to it.",
      clauses: ["errors.codes", "limits.exceeded-code"],
      ...about(errorOf, ({ code }, { response: { status } }) =>
        unless(
          statusOf.get(code) === status,
          `a code of the catalogue for ${status}`,
          `${PetJson.excerpt(code)} with ${status}`
        )
      )
    },
    {
      id: "every.no-echo",
      law: "No message repeats the credential of its request, or long input.",
      clauses: ["errors.no-echo"],
      ...about(errorOf, ({ message, messageLength }, { request }) => {
        const tokens = headerValues(request, "authorization").flatMap((value) => value.split(/\s+/))
        return tokens.some((token) => token.length >= MIN_SECRET_LENGTH && message.includes(token))
          ? violation("a message that repeats no credential", "the credential of the request in the message")
          : unless(
              messageLength <= MAX_MESSAGE_LENGTH,
              `a message of at most ${MAX_MESSAGE_LENGTH} characters`,
              `a message of ${messageLength} characters`
            )
      })
    },
    {
      id: "every.no-5xx-anywhere",
      law: "No response to any request is 5xx.",
      clauses: ["errors.no-5xx-anywhere"],
      isAbout: () => true,
      examine: ({ response: { status } }) => unless(status < 500, "no 5xx to any request", String(status))
    }
  ])
]
