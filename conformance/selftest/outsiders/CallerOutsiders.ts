/** Defines the outsiders that break contract §5, §7 and §8: keys, errors and limits. */
import * as Effect from "effect/Effect"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { header, type Transport, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import { failure, html, isError } from "../spoilers/ErrorResponses.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"
import { type Outsider, outsider } from "./Outsider.ts"

const credential = (request: WireRequest): string => Requests.credentials(request)[0] ?? ""

/** Treats some requests as if they had the main key. */
const admits = (isAdmitted: (request: WireRequest, key: string) => boolean): Where =>
  AtHttp.requests(
    (request, { keys }) => isAdmitted(request, keys.main),
    (request, { keys }) => Requests.withKey(request, keys.main)
  )

const LIMIT = "X-RateLimit-Limit"
const REMAINING = "X-RateLimit-Remaining"
const RESET = "X-RateLimit-Reset"

/** Changes a numeric header; `undefined` removes the header. */
const changesHeader = (
  name: string,
  change: (value: number, response: WireResponse) => number | string | undefined,
  selection: AtHttp.Selection = {}
): Where =>
  AtHttp.responses(selection, (response) => {
    const value = header(response, name)
    const changed = value === undefined ? undefined : change(Number(value), response)
    if (value === undefined) return response
    return changed === undefined ? Edit.without(name)(response) : Edit.header(name, String(changed))(response)
  })

/** Applies the limits of a changed plan. */
const withPlan = (change: (plan: RateLimit.Policy["plan"]) => RateLimit.Policy["plan"]): Where =>
  RateLimits.decides((state, now, policy) =>
    RateLimit.step(state, now, { ...policy, plan: change(policy.plan) })
  )

/** Counts the requests of each operation separately. */
const perOperation = (): Where => {
  let operation = ""
  return {
    at: "http",
    transport: (real) => (request) =>
      Effect.suspend(() => {
        operation = Requests.isCreation(request) ? "create" : Requests.isList(request) ? "list" : "get"
        return real(request)
      }),
    limits: (real) => ({
      modify: (key, step) => real.modify(`${operation}/${key}`, step)
    })
  }
}

/** Returns 500 for every n-th request. */
const failsEvery = (n: number): Where =>
  AtHttp.transport((real: Transport) => {
    let count = 0
    return (request) =>
      Effect.map(real(request), (response) => (++count % n === 0 ? failure(response) : response))
  })

export const outsiders: ReadonlyArray<Outsider> = [
  outsider(
    "open-get",
    "5.2",
    "Returns a single animal without a key.",
    admits((request) => Requests.isGet(request) && credential(request) === "")
  ),
  outsider(
    "beginning-of-a-key",
    "5.3",
    "Accepts the first half of a key.",
    admits(
      (request, key) =>
        credential(request) !== `Bearer ${key}` &&
        credential(request).length > 20 &&
        `Bearer ${key}`.startsWith(credential(request))
    )
  ),
  outsider(
    "longer-key",
    "5.3",
    "Accepts a key that is followed by other characters.",
    admits((request, key) => credential(request).startsWith(`Bearer ${key}`))
  ),
  outsider(
    "basic-scheme",
    "5.1",
    "Accepts the key with the scheme Basic.",
    admits((request, key) => credential(request) === `Basic ${key}`)
  ),
  outsider(
    "bare-key",
    "5.1",
    "Accepts the key without a scheme.",
    admits((request, key) => credential(request) === key)
  ),
  outsider(
    "key-in-query",
    "5.1",
    "Accepts the key in the query.",
    admits((request, key) => request.target.includes(key))
  ),
  outsider(
    "denied-as-403",
    "5.3",
    "Returns 403 for an invalid key.",
    AtHttp.responses(
      { to: (request) => credential(request) !== "", status: 401 },
      Edit.error(403, "forbidden")
    )
  ),
  outsider(
    "body-before-key",
    "5.3",
    "Returns 400 for an invalid body without a key.",
    AtHttp.responses(
      {
        to: (request) =>
          Requests.isCreation(request) &&
          !/"name".*"categoryId"/.test(String(request.body && new TextDecoder().decode(request.body))),
        status: 401
      },
      Edit.error(400, "invalid_body")
    ),
    "The contract does not show in which order a request is checked."
  ),
  outsider(
    "unknown-before-key",
    "5.3",
    "Returns 404 for an unknown id without a key.",
    AtHttp.responses(
      { to: (request) => /\/pets\/[0-9]{10,}$/.test(request.target), status: 401 },
      Edit.error(404, "not_found")
    )
  ),
  outsider(
    "no-body-401",
    "7",
    "Returns 401 without a body.",
    AtHttp.responses({ status: 401 }, Edit.body(""))
  ),
  outsider(
    "html-404",
    "7",
    "Returns an HTML page for an unknown animal.",
    AtHttp.responses({ to: Requests.isGet, status: 404 }, html)
  ),
  outsider(
    "error-status-as-text",
    "7",
    "Sends the status of an error as a string.",
    AtHttp.responses(
      { status: isError },
      Edit.members((members) => ({ ...members, status: String(members.status) }))
    )
  ),
  outsider(
    "no-code-400",
    "7",
    "Omits the code from the error for an invalid body.",
    AtHttp.responses(
      { status: 400 },
      Edit.members((members) => ({ ...members, code: undefined }))
    )
  ),
  outsider(
    "message-as-list",
    "7",
    "Sends the message about an invalid body as an array.",
    AtHttp.responses(
      { to: Requests.isCreation, status: 400 },
      Edit.members((members) => ({ ...members, message: [members.message] }))
    )
  ),
  outsider(
    "other-status-inside",
    "7",
    "Sends the status 400 in the body of each error.",
    AtHttp.responses(
      { status: isError },
      Edit.members((members) => ({ ...members, status: 400 }))
    )
  ),
  outsider(
    "no-headers-404",
    "8.3",
    "Omits X-RateLimit-Remaining from a 404.",
    changesHeader(REMAINING, () => undefined, { status: 404 })
  ),
  outsider(
    "no-headers-201",
    "8.3",
    "Omits X-RateLimit-Limit from the response to a creation.",
    changesHeader(LIMIT, () => undefined, { status: 201 })
  ),
  outsider(
    "no-reset-429",
    "8.3",
    "Omits X-RateLimit-Reset when the limit is exceeded.",
    changesHeader(RESET, () => undefined, { status: 429 })
  ),
  outsider(
    "creations-are-free",
    "8.2",
    "Does not count or limit creations.",
    RateLimits.withoutLimit(Requests.isCreation)
  ),
  outsider(
    "unlimited-lists-of-sold",
    "8.2",
    "Does not count or limit lists of sold animals.",
    RateLimits.withoutLimit((request) => Requests.listParameter(request, "status") === "sold")
  ),
  outsider(
    "reset-in-ms",
    "8.3",
    "Sends the reset in milliseconds.",
    changesHeader(RESET, (value) => value * 1000)
  ),
  outsider(
    "reset-an-hour-ago",
    "8.3",
    "Sends a reset that is an hour in the past.",
    changesHeader(RESET, (value) => value - 3_600)
  ),
  outsider(
    "limit-of-free",
    "8.3",
    "Shows the limit of the Free plan for every key.",
    changesHeader(LIMIT, () => 60)
  ),
  outsider(
    "limit-in-words",
    "8.3",
    "Sends the limit with a unit.",
    changesHeader(LIMIT, (value) => `${value} requests`)
  ),
  outsider(
    "one-more",
    "8.2",
    "Admits one request more than the per-minute limit.",
    withPlan((plan) => ({ ...plan, perMinute: plan.perMinute + 1 }))
  ),
  outsider("per-operation", "8.2", "Counts each operation separately.", perOperation()),
  outsider(
    "one-count-for-all",
    "8.2",
    "Counts the requests of all keys together.",
    AtHttp.limits((real) => ({ modify: (_key, step) => real.modify("all", step) })),
    "Whether limits are counted per key, account or address is not shown."
  ),
  outsider(
    "no-day",
    "8.2",
    "Does not enforce a daily limit.",
    withPlan((plan) => ({ ...plan, perDay: 1_000_000_000 }))
  ),
  outsider(
    "no-new-day",
    "8.2",
    "Never resets the daily count.",
    RateLimits.decides((state, now, policy) => {
      const day = Math.floor(now / RateLimits.DAY_MS)
      return RateLimit.step(state && { ...state, day }, now, policy)
    })
  ),
  outsider(
    "half-after-reset",
    "8.2",
    "Applies half of the per-minute limit after the first minute.",
    (() => {
      let first = 0
      return RateLimits.decides((state, now, policy) => {
        first ||= now
        const { perDay, perMinute } = policy.plan
        const half = { perDay, perMinute: Math.ceil(perMinute / 2) }
        return RateLimit.step(state, now, now - first > 60_000 ? { ...policy, plan: half } : policy)
      })
    })()
  ),
  outsider(
    "too-many-as-503",
    "8.4",
    "Returns 503 instead of 429 over the limit.",
    AtHttp.responses({ status: 429 }, Edit.error(503, "busy"))
  ),
  outsider(
    "no-retry-after",
    "8.4",
    "Omits Retry-After.",
    changesHeader("Retry-After", () => undefined)
  ),
  outsider(
    "half-the-wait",
    "8.4",
    "Announces half of the time to wait.",
    changesHeader("Retry-After", (value) => Math.ceil(value / 2))
  ),
  outsider(
    "wait-in-ms",
    "8.4",
    "Announces the time to wait in milliseconds.",
    changesHeader("Retry-After", (value) => value * 1000)
  ),
  outsider(
    "no-body-429",
    "8.4",
    "Returns 429 without a body.",
    AtHttp.responses({ status: 429 }, Edit.body(""))
  ),
  outsider(
    "only-reads-limited",
    "8.2",
    "Admits every creation over the limit.",
    AtHttp.transport(
      (real, { keys }) =>
        (request) =>
          Effect.flatMap(real(request), (response) =>
            response.status === 429 && Requests.isCreation(request)
              ? Effect.map(real(Requests.withKey(request, keys.main)), (response) => ({
                  ...response,
                  headers: response.headers
                }))
              : Effect.succeed(response)
          )
    )
  ),
  outsider(
    "removed-early",
    "4.3",
    "Returns 404 for every retrieval, as if getPet were already removed.",
    AtHttp.responses({ to: Requests.isGet, status: 200 }, Edit.error(404, "not_found"))
  ),
  outsider("every-fiftieth-fails", "7", "Returns 500 for every 50th request.", failsEvery(50)),
  outsider(
    "never-zero",
    "8.3",
    "Never shows fewer than one remaining request.",
    changesHeader(REMAINING, (value) => Math.max(1, value))
  ),
  outsider(
    "remaining-of-yesterday",
    "8.3",
    "Always shows the whole limit as remaining requests.",
    changesHeader(REMAINING, (_value, response) => header(response, LIMIT))
  )
]
