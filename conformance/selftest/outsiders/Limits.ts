import * as Effect from "effect/Effect"
import { header, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"
import * as Outsider from "./Outsider.ts"

const operations = {
  lists: Requests.isList,
  "lists-with-limit": (request: WireRequest) => Requests.listParameter(request, "limit") !== null,
  "lists-with-status": (request: WireRequest) => Requests.listParameter(request, "status") !== null,
  creations: Requests.isCreation,
  retrievals: Requests.isGet
}

const escapes = Object.entries(operations).flatMap(([name, isFree]) =>
  (["minute", "day"] as const).flatMap((window) => [
    fault(`out.escape-${window}-${name}`, `The ${window} never denies ${name}.`)
      .breaks(window === "day" ? "limits.per-day" : "limits.per-minute")
      .by(RateLimits.withoutLimit(isFree, window)),
    fault(`out.free-${window}-${name}`, `${name} are not counted in the ${window}.`)
      .breaks(window === "day" ? "limits.per-day" : "limits.per-minute")
      .by(RateLimits.withoutCost(isFree, window))
  ])
)

const refunds = [400, 404].flatMap((status) =>
  (["minute", "day", "both"] as const).map((windows) =>
    fault(`out.refund-${status}-${windows}`, `A request that gets ${status} does not count (${windows}).`)
      .breaks(windows === "day" ? "limits.per-day" : "limits.per-minute")
      .by(
        RateLimits.refunding(
          (response, request) =>
            response.status === status &&
            (status === 404 ? Requests.isGet(request) : Requests.isCreation(request)),
          windows
        )
      )
  )
)

const everything: ReadonlyArray<readonly [string, AtHttp.Selection]> = [
  ["options", { to: ({ method }) => method === "OPTIONS" }],
  ["head", { to: Requests.isHead }],
  ["405", { status: 405 }],
  ["415", { status: 415 }],
  ["413", { status: 413 }],
  ["unknown-path", { to: (request) => !request.target.includes("/pets"), status: 404 }],
  ["404-of-pet", { to: Requests.isGet, status: 404 }],
  ["410", { status: 410 }],
  ["429", { status: 429 }],
  ["429-of-creations", { to: Requests.isCreation, status: 429 }],
  ["400-of-lists", { to: Requests.isList, status: 400 }],
  ["empty-list", { to: (request) => Requests.isList(request) }]
]

const headerless = everything.flatMap(([name, selection]) => [
  fault(`out.no-reset-${name}`, `No X-RateLimit-Reset on ${name}.`)
    .breaks("limits.headers-present")
    .by(
      AtHttp.responses(selection, (response) =>
        name !== "empty-list" || response.body.length === 2
          ? Edit.without("X-RateLimit-Reset")(response)
          : response
      )
    )
])

const scaled =
  (name: string, change: (value: number, now: number) => number): Edit.Edit =>
  (response, _request, world) => {
    const given = header(response, name)
    return given === undefined
      ? response
      : Edit.header(name, String(change(Number(given), world.now())))(response)
  }

const wrong: ReadonlyArray<Fault> = [
  fault("out.reset-ms-429", "Reset in milliseconds only on 429.")
    .breaks("limits.reset-unix-seconds")
    .by(
      AtHttp.responses(
        { status: 429 },
        scaled("X-RateLimit-Reset", (value) => value * 1000)
      )
    ),
  fault("out.reset-delta-404", "Reset as a delta only on 404.")
    .breaks("limits.reset-unix-seconds")
    .by(
      AtHttp.responses(
        { status: 404 },
        scaled("X-RateLimit-Reset", (value, now) => Math.max(0, value - Math.floor(now / 1000)))
      )
    ),
  fault("out.reset-delta-head", "Reset as a delta only on HEAD.")
    .breaks("limits.reset-unix-seconds")
    .by(
      AtHttp.responses(
        { to: Requests.isHead },
        scaled("X-RateLimit-Reset", (value, now) => Math.max(0, value - Math.floor(now / 1000)))
      )
    ),
  fault("out.retry-after-day", "Retry-After is at most 60, also when the day is used up.")
    .breaks("limits.retry-after-promise")
    .by(
      AtHttp.responses(
        { status: 429 },
        scaled("Retry-After", (value) => Math.min(60, value))
      )
    ),
  fault("out.retry-after-day-zero", "Retry-After is 0 when the day is used up.")
    .breaks("limits.retry-after-promise")
    .by(
      AtHttp.responses(
        { status: 429 },
        scaled("Retry-After", (value) => (value > 60 ? 0 : value))
      )
    ),
  fault("out.retry-after-less", "Retry-After is one second less than needed on creations.")
    .breaks("limits.retry-after-promise")
    .by(
      AtHttp.responses(
        { status: 429, to: Requests.isCreation },
        scaled("Retry-After", (value) => Math.max(0, value - 1))
      )
    ),
  fault("out.retry-after-gone-head", "No Retry-After on 429 to retrievals.")
    .breaks("limits.retry-after-present")
    .by(AtHttp.responses({ status: 429, to: Requests.isGet }, Edit.without("Retry-After"))),
  fault("out.limit-of-other-404", "Shows the limit of another plan on 404.")
    .breaks("limits.plan-in-force")
    .by(AtHttp.responses({ status: 404 }, Edit.header("X-RateLimit-Limit", "60"))),
  fault("out.limit-of-main-429", "Shows the limit of the main key on 429.")
    .breaks("limits.plan-in-force")
    .by(AtHttp.responses({ status: 429 }, Edit.header("X-RateLimit-Limit", "100000"))),
  fault("out.remaining-not-zero-429", "Remaining is 1 on 429.")
    .breaks("limits.remaining-truth")
    .by(AtHttp.responses({ status: 429 }, Edit.header("X-RateLimit-Remaining", "1"))),
  fault("out.remaining-stale-400", "Remaining before the request on 400.")
    .breaks("limits.remaining-truth")
    .by(
      AtHttp.responses(
        { status: 400 },
        scaled("X-RateLimit-Remaining", (value) => value + 1)
      )
    ),
  fault("out.remaining-201", "Remaining is one less than true on 201.")
    .breaks("limits.remaining-bound")
    .by(
      AtHttp.responses(
        { status: 201, to: Outsider.ofTiny },
        scaled("X-RateLimit-Remaining", (value) => Math.max(0, value - 1))
      )
    ),
  fault("out.window-50", "The minute is 50 seconds.")
    .breaks("limits.per-minute")
    .by(RateLimits.decides(RateLimits.windows(50_000, RateLimits.DAY_MS))),
  fault("out.window-61", "The minute is 61 seconds.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(61_000, RateLimits.DAY_MS))),
  fault("out.window-75", "The minute is 75 seconds.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(75_000, RateLimits.DAY_MS))),
  fault("out.day-12h", "The day is 12 hours.")
    .breaks("limits.per-day")
    .by(RateLimits.decides(RateLimits.windows(60_000, RateLimits.DAY_MS / 2))),
  fault("out.day-23h", "The day is 23 hours.")
    .breaks("limits.per-day")
    .by(RateLimits.decides(RateLimits.windows(60_000, (RateLimits.DAY_MS * 23) / 24))),
  fault("out.day-25h", "The day is 25 hours.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(60_000, (RateLimits.DAY_MS * 25) / 24))),
  fault("out.day-48h", "The day is 48 hours.")
    .breaks("limits.no-early-429")
    .by(RateLimits.decides(RateLimits.windows(60_000, RateLimits.DAY_MS * 2))),
  fault("out.day-plus-one", "The day admits one more.")
    .breaks("limits.per-day")
    .by(RateLimits.decides(RateLimits.windows(60_000, RateLimits.DAY_MS, 1))),
  fault("out.errors-free-plain", "Refused requests are free on a plain server.")
    .breaks("limits.per-minute")
    .by({ at: "plain", choices: { errorsCost: false } }),
  fault("out.errors-free-bucket", "Refused requests are free on a bucket.")
    .breaks("limits.per-minute")
    .by({ at: "plain", choices: { errorsCost: false, minute: "token bucket", reset: "all left again" } }),
  fault("out.errors-free-log", "Refused requests are free in a sliding log; the day is shown.")
    .breaks("limits.per-minute")
    .by({
      at: "plain",
      choices: { errorsCost: false, minute: "sliding log", day: "sliding log", shown: "day" }
    }),
  fault("out.denied-creation-stored", "A creation that gets 429 is stored.")
    .breaks("limits.refused-unstored")
    .by(
      AtHttp.transport(
        (real, world) => (request) =>
          Effect.tap(real(request), ({ status }) =>
            status === 429 && Requests.isCreation(request)
              ? real(Requests.withKey(request, world.keys.main))
              : Effect.void
          )
      )
    ),
  fault("out.ban-other-key", "A ban of one key denies another.")
    .breaks("limits.no-early-429")
    .by(
      AtHttp.transport((real, { keys }) => {
        let until = 0
        return (request) =>
          Effect.flatMap(real(request), (response) => {
            if (response.status === 429 && Requests.hasKey(request, keys.victim))
              until = Number(header(response, "x-ratelimit-reset"))
            const isHit = until > 0 && Requests.hasKey(request, keys.tiny) && response.status === 200
            if (isHit) until = 0
            return isHit
              ? Effect.succeed(Edit.header("Retry-After", "30")(Edit.error(429, "x")(response)))
              : Effect.succeed(response)
          })
      })
    ),
  fault("out.after-ban-limit", "After a ban, the Limit is 1.")
    .breaks("limits.plan-in-force")
    .by(
      Outsider.after(
        (response, request, { keys }) => response.status === 429 && Requests.hasKey(request, keys.victim),
        (response) =>
          response.status === 429
            ? response
            : Edit.header("X-RateLimit-Limit", "1")(Edit.header("X-RateLimit-Remaining", "0")(response)),
        (request, { keys }) => Requests.hasKey(request, keys.victim)
      )
    ),
  fault("out.after-ban-404", "After a denial of the victim, it finds no animal by id.")
    .breaks("get.found")
    .by(
      Outsider.after(
        (response, request, { keys }) => response.status === 429 && Requests.hasKey(request, keys.victim),
        (response) => (response.status === 200 ? Edit.error(404, "not_found")(response) : response),
        (request, { keys }) => Requests.isGet(request) && Requests.hasKey(request, keys.victim)
      )
    ),
  fault("out.after-denials-401", "A key that was denied 10 times is invalid for ever.")
    .breaks("auth.bearer")
    .by(
      AtHttp.transport((real, { keys }) => {
        let denials = 0
        return (request) =>
          Effect.flatMap(real(request), (response) => {
            if (response.status === 429 && Requests.hasKey(request, keys.victim)) denials++
            return denials > 10 && response.status < 300 && Requests.hasKey(request, keys.victim)
              ? real(Requests.withKey(request, "gone"))
              : Effect.succeed(response)
          })
      })
    )
]

export const faults: ReadonlyArray<Fault> = [...escapes, ...refunds, ...headerless, ...wrong]
