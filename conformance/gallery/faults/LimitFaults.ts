/** Backends with a fault in their limits: in the headers, in the counting, in the waiting time. */
import * as Effect from "effect/Effect"
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../../core/limits/TokenBucket.ts"
import type { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import { type Header, header, headerValues, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Fault, Spoil, Where, World } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

type Limits = RateLimitStore["Service"]

const DAY_MS = 86_400_000

const RESET = "X-RateLimit-Reset"
const REMAINING = "X-RateLimit-Remaining"
const RETRY_AFTER = "Retry-After"

/** The rule for one request, made wrong. */
type Step = (
  state: RateLimit.State | undefined,
  now: number,
  policy: RateLimit.Policy
) => readonly [RateLimit.Verdict, RateLimit.State]

/** Decides by another rule: for valid keys, or for callers without one. */
const deciding =
  (step: Step, whose: "key:" | "network:" = "key:"): Spoil<Limits> =>
  (real) => ({
    modify: real.modify,
    consume: (key, now, policy) => {
      const isTheirs = key.startsWith(whose)
      return real.modify(key, (state) => (isTheirs ? step : RateLimit.step)(state, now, policy))
    }
  })

const decides = (step: Step, whose?: "network:"): Where => ({ at: "http", limits: deciding(step, whose) })

/** Decides right and tells it otherwise. */
const tells = (
  change: (verdict: RateLimit.Verdict, now: number, policy: RateLimit.Policy) => object
): Where =>
  decides((state, now, policy) => {
    const [verdict, next] = RateLimit.step(state, now, policy)
    return [{ ...verdict, ...change(verdict, now, policy) }, next]
  })

/** The same for refusals alone. */
const tellsRefused = (change: (verdict: RateLimit.Verdict, now: number) => object): Where =>
  tells((verdict, now) => (verdict.outcome === "admitted" ? {} : change(verdict, now)))

const answers = (
  change: (response: WireResponse, request: WireRequest, world: World) => WireResponse
): Where => ({
  at: "http",
  transport: (real, world) => Rewrite.answers((response, request) => change(response, request, world))(real)
})

/** Changes the answers with these statuses. */
const answersWith = (
  statuses: ReadonlyArray<number>,
  change: (response: WireResponse, world: World) => WireResponse
): Where =>
  answers((response, _request, world) =>
    statuses.includes(response.status) ? change(response, world) : response
  )

/** Tells Retry-After otherwise; `undefined` leaves it out. */
const retries = (change: (seconds: number, world: World) => string | undefined): Where =>
  answersWith([429], (response, world) => {
    const value = change(Number(header(response, RETRY_AFTER)), world)
    return value === undefined
      ? Rewrite.withoutHeader(response, RETRY_AFTER)
      : Rewrite.withHeader(response, RETRY_AFTER, value)
  })

const tellsError = (change: (error: object) => object): Where =>
  answersWith([429], (response) => Rewrite.withJson(response, (error) => change(Object(error))))

/** Sends along what else the server does on the quiet. */
const also = (
  when: (request: WireRequest, world: World) => boolean,
  change: (request: WireRequest, world: World) => WireRequest
): Where => ({
  at: "http",
  transport: (real, world) => (request) =>
    when(request, world) ? Effect.andThen(real(change(request, world)), real(request)) : real(request)
})

const bearing = (request: WireRequest, secret: string | undefined): WireRequest => ({
  ...request,
  headers: [
    ...request.headers.filter(([name]) => name !== "Authorization"),
    ...(secret === undefined ? [] : [["Authorization", `Bearer ${secret}`] as const])
  ]
})

const bears = (request: WireRequest, secret: string): boolean =>
  headerValues(request, "authorization").includes(`Bearer ${secret}`)

/** Ms until the bucket of a refused caller pays for a request again. */
const waitMs = ({ at, level }: RateLimit.State, now: number, { plan }: RateLimit.Policy): number =>
  TokenBucket.reaches(level, at, TokenBucket.COST, plan.perMinute) - now

const withPlan = (policy: RateLimit.Policy, change: Partial<Plan.Plan>): RateLimit.Policy => ({
  ...policy,
  plan: { ...policy.plan, ...change }
})

/** A server that forgets to count one request when told to. */
const forgetful = (): Where => {
  let isFree = false
  return {
    at: "http",
    transport: (real) => (request) =>
      Effect.suspend(() => {
        isFree = request.target.includes("limit=0")
        return real(request)
      }),
    limits: deciding((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      if (!isFree || verdict.outcome !== "admitted") return [verdict, next]
      return [
        { ...verdict, remaining: verdict.remaining + 1 },
        { ...next, level: next.level + TokenBucket.COST, used: next.used - 1 }
      ]
    })
  }
}

/** A server whose callers without a key take the whole network along when they are over their limit. */
const jealous: Where = {
  at: "http",
  transport: (real) => {
    let refusal: WireResponse | undefined
    return (request) =>
      Effect.map(real(request), (response) => {
        if (headerValues(request, "authorization").length === 0) {
          refusal = response.status === 429 ? response : undefined
        }
        return refusal ?? response
      })
  }
}

/** Windows by the clock: what is used of the minute is kept as `level`, of the day as `used`. */
const windows =
  (minuteMs: number, dayMs: number, extra = 0): Step =>
  (state, now, { plan: { perDay, perMinute } }) => {
    const minute = Math.floor(now / minuteMs)
    const day = Math.floor(now / dayMs)
    const level = state !== undefined && Math.floor(state.at / minuteMs) === minute ? state.level : 0
    const used = state?.day === day ? state.used : 0
    const dayLeft = perDay + extra - used
    const minuteLeft = perMinute - level
    const isOfDay = dayLeft < minuteLeft || dayLeft === 0
    const end = isOfDay ? (day + 1) * dayMs : (minute + 1) * minuteMs
    const left = isOfDay ? dayLeft : minuteLeft
    const isAdmitted = left > 0
    const cost = isAdmitted ? 1 : 0
    const limit = isOfDay ? perDay : perMinute
    const verdict: RateLimit.Verdict = {
      outcome: isAdmitted ? "admitted" : "limited",
      limit,
      remaining: Math.min(left - cost, limit),
      resetAt: Math.ceil(end / 1000),
      retryAfter: isAdmitted ? 0 : Math.ceil((end - now) / 1000)
    }
    const before = state ?? RateLimit.initial(now, { perDay, perMinute })
    return [verdict, { ...before, at: now, level: level + cost, day, used: used + cost }]
  }

/** A server that keeps the rate headers of the request that it answered last for whichever it answers next. */
const shared: Where = {
  at: "http",
  transport: (real) => {
    let latest: ReadonlyArray<Header> = []
    return Effect.fnUntraced(function* (request) {
      const response = yield* real(request)
      const names = ["X-RateLimit-Limit", REMAINING, RESET]
      latest = names.map((name) => [name, header(response, name) ?? ""] as const)
      // As long as it takes to write the answer.
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      return latest.reduce((answer, one) => Rewrite.withHeader(answer, ...one), response)
    })
  }
}

/** A server one of whose replicas does not know the keys. */
const unknowing: Where = {
  at: "http",
  transport: (real, { keys }) => {
    let sent = 0
    return (request) =>
      real(bears(request, keys.main) && ++sent % 50 === 0 ? bearing(request, undefined) : request)
  }
}

const headers: ReadonlyArray<Fault> = [
  {
    id: "limits.no-headers-on-4xx",
    does: "Leaves the rate headers out of errors.",
    breaks: "limits.headers-present",
    killedBy: "every.rate-headers",
    words: "X-RateLimit-Remaining is missing",
    where: answersWith([400, 404, 405, 415], (response) => Rewrite.withoutHeader(response, REMAINING))
  },
  {
    id: "limits.no-headers-on-401",
    does: "Leaves the rate headers out where no key is known.",
    breaks: "limits.headers-present",
    killedBy: "every.rate-headers",
    words: "401 where X-RateLimit-Reset is missing",
    where: answersWith([401], (response) => Rewrite.withoutHeader(response, RESET))
  },
  {
    id: "limits.no-headers-on-429",
    does: "Leaves the rate headers out of refusals.",
    breaks: "limits.headers-present",
    killedBy: "every.rate-headers",
    words: "429 where X-RateLimit-Limit is missing",
    where: answersWith([429], (response) => Rewrite.withoutHeader(response, "X-RateLimit-Limit"))
  },
  {
    id: "limits.headers-twice",
    does: "Sends the remaining requests once for each window.",
    breaks: "limits.headers-present",
    killedBy: "every.rate-headers",
    words: "X-RateLimit-Remaining: 0 and 0",
    where: answersWith([429], (response) => ({
      ...response,
      headers: [...response.headers, [REMAINING, "0"]]
    }))
  },
  {
    id: "limits.header-with-window",
    does: "Writes the limit with its window, as drafts of RateLimit headers did.",
    breaks: "limits.header-types",
    killedBy: "every.rate-integers",
    words: "100000;w=60",
    where: answers((response) => {
      const limit = header(response, "X-RateLimit-Limit") ?? ""
      return Rewrite.withHeader(response, "X-RateLimit-Limit", `${limit}, ${limit};w=60`)
    })
  },
  {
    id: "limits.negative-remaining",
    does: "Counts refused requests below zero.",
    breaks: "limits.header-types",
    killedBy: "every.rate-integers",
    words: 'X-RateLimit-Remaining to be a decimal integer "-1"',
    where: tellsRefused(() => ({ remaining: -1 }))
  },
  {
    id: "limits.remaining-above-limit",
    does: "Shows one more remaining than the limit when the bucket is full.",
    breaks: "limits.remaining-within",
    killedBy: "every.remaining-within",
    words: "the limit 100001 remaining",
    where: tells(({ limit, remaining }) => (remaining === limit - 1 ? { remaining: limit + 1 } : {}))
  },
  {
    id: "limits.counts-twice",
    does: "Counts each request twice, as two layers of middleware do.",
    breaks: "limits.remaining-truth",
    killedBy: "every.remaining-falls-by-one",
    words: "99996 remaining, 99998 before",
    where: decides((state, now, policy) => {
      const [, once] = RateLimit.step(state, now, policy)
      return RateLimit.step(once, now, policy)
    })
  },
  {
    id: "limits.remaining-before",
    does: "Tells the remaining requests from before this one.",
    breaks: "limits.remaining-truth",
    killedBy: "limits.remaining-kept",
    words: "Remaining 1, and the next request refused",
    where: tells(({ outcome, remaining }) => ({ remaining: outcome === "admitted" ? remaining + 1 : 0 }))
  },
  {
    id: "limits.remaining-constant",
    does: "Always tells the same number of remaining requests.",
    breaks: "limits.remaining-truth",
    killedBy: "limits.remaining-kept",
    words: "and the next request refused",
    where: tells(({ limit, outcome }) => ({ remaining: outcome === "admitted" ? limit - 1 : 0 }))
  },
  {
    id: "limits.remaining-less",
    does: "Tells one remaining request too few.",
    breaks: "limits.remaining-bound",
    killedBy: "limits.remaining-bound",
    words: "Remaining 3 4 admitted",
    where: tells(({ remaining }) => ({ remaining: Math.max(remaining - 1, 0) }))
  },
  {
    id: "limits.refused-with-remaining",
    does: "Shows requests of the day as remaining while the minute refuses.",
    breaks: "limits.window-shown-denied",
    killedBy: "every.refused-remaining",
    words: "Remaining 0 with 429 3",
    where: tellsRefused(() => ({ remaining: 3 }))
  },
  {
    id: "limits.limit-of-another-plan",
    does: "Shows every key the limit of plan Free.",
    breaks: "limits.plan-in-force",
    killedBy: "limits.plan-shown",
    words: "the plan of the key Limit 60",
    where: tells(() => ({ limit: Plan.standard.Free.perMinute }))
  },
  {
    id: "limits.always-shows-day",
    does: "Shows the day when the minute has less left.",
    breaks: "limits.window-shown",
    killedBy: "bucket.remaining",
    words: "remaining 39 of 40",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      const { perDay } = policy.plan
      const resetAt = ((next.day + 1) * DAY_MS) / 1000
      return [{ ...verdict, limit: perDay, remaining: perDay - next.used, resetAt }, next]
    })
  },
  {
    id: "limits.mixed-windows",
    does: "Shows the minute's limit with the day's reset.",
    breaks: "limits.window-single",
    killedBy: "bucket.reset",
    words: "of the window of 5 1796515200",
    where: tells((_verdict, now) => ({ resetAt: ((Math.floor(now / DAY_MS) + 1) * DAY_MS) / 1000 }))
  },
  {
    id: "limits.reset-in-ms",
    does: "Tells the reset in milliseconds.",
    breaks: "limits.reset-unix-seconds",
    killedBy: "every.reset-unix-seconds",
    words: "as if in milliseconds",
    where: tells(({ resetAt }) => ({ resetAt: resetAt * 1000 }))
  },
  {
    id: "limits.reset-as-delta",
    does: "Tells the seconds until the reset.",
    breaks: "limits.reset-unix-seconds",
    killedBy: "every.reset-unix-seconds",
    words: "as if in seconds from now",
    where: tells(({ resetAt }, now) => ({ resetAt: resetAt - Math.floor(now / 1000) }))
  },
  {
    id: "limits.reset-in-past",
    does: "Tells when the window began.",
    breaks: "limits.reset-not-past",
    killedBy: "every.reset-not-past",
    words: "08:59:00.000Z) at",
    where: tells((_verdict, now) => ({ resetAt: Math.floor(now / 1000) - 60 }))
  },
  {
    id: "limits.reset-in-days",
    does: "Tells the end of the week.",
    breaks: "limits.reset-ahead",
    killedBy: "every.reset-ahead",
    words: "(2026-12-06T09:00",
    where: tells(({ resetAt }) => ({ resetAt: resetAt + 5 * 86_400 }))
  },
  {
    id: "limits.reset-too-early",
    does: "Tells a reset at which requests are refused still.",
    breaks: "limits.reset-truth",
    killedBy: "limits.reset-kept",
    words: "429 a second after it",
    where: tellsRefused((_verdict, now) => ({ resetAt: Math.ceil(now / 1000) + 1 }))
  },
  {
    id: "limits.reset-of-next-token",
    does: "Tells when one more request is left, not all.",
    breaks: "limits.reset-full",
    killedBy: "bucket.reset",
    words: "of the window of 5 1796461452",
    where: tellsRefused(({ retryAfter }, now) => ({ resetAt: Math.ceil(now / 1000) + retryAfter }))
  }
]

const counting: ReadonlyArray<Fault> = [
  {
    id: "limits.not-atomic",
    does: "Reads the state, decides, and writes it, with others in between.",
    breaks: "limits.atomic",
    killedBy: "limits.at-once",
    words: "at once admitted 8 admitted",
    where: {
      at: "http",
      limits: (real) => ({
        modify: real.modify,
        consume: Effect.fnUntraced(function* (key, now, policy) {
          const read = yield* real.modify(key, (state = RateLimit.initial(now, policy.plan)) => [
            state,
            state
          ])
          yield* Effect.yieldNow
          const [verdict, next] = RateLimit.step(read, now, policy)
          return yield* real.modify(key, () => [verdict, next])
        })
      })
    }
  },
  {
    id: "limits.never-refills",
    does: "Gives nothing back, however long one waits.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.promise",
    words: "429 after waiting the 60 s told",
    where: decides((state, now, policy) => RateLimit.step(state, state?.at ?? now, policy))
  },
  {
    id: "limits.refills-half",
    does: "Gives back half a minute's requests at most.",
    breaks: "limits.no-early-429",
    killedBy: "limits.whole-minute",
    words: "silence 3 admitted",
    where: decides((state, now, policy) => {
      const most = (TokenBucket.capacity(policy.plan.perMinute) >> 1) + TokenBucket.COST
      const level = state && TokenBucket.levelAt(state, now, policy.plan.perMinute)
      return RateLimit.step(state && { ...state, at: now, level: Math.min(level ?? 0, most) }, now, policy)
    })
  },
  {
    id: "limits.refills-each-time",
    does: "Begins a new window with each request.",
    breaks: "limits.per-minute",
    killedBy: "limits.exhausted",
    words: "admitted on a plan of",
    where: decides((_state, now, policy) => RateLimit.step(undefined, now, policy))
  },
  {
    id: "limits.minute-not-enforced",
    does: "Refuses nobody for the minute.",
    breaks: "limits.per-minute",
    killedBy: "limits.exhausted",
    words: "admitted on a plan of",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, withPlan(policy, { perMinute: 1_000_000 }))
      return [{ ...verdict, limit: policy.plan.perMinute, remaining: 0 }, next]
    })
  },
  {
    id: "limits.grows-when-idle",
    does: "Refills beyond the plan while nobody asks.",
    breaks: "limits.per-minute",
    killedBy: "limits.whole-minute",
    words: "silence 12 admitted",
    where: decides((state, now, policy) => {
      const { perMinute } = policy.plan
      if (
        state === undefined ||
        state.level + (now - state.at) * perMinute <= TokenBucket.capacity(perMinute)
      ) {
        return RateLimit.step(state, now, policy)
      }
      const [verdict, next] = RateLimit.step(undefined, now, policy)
      const level = state.level + (now - state.at) * perMinute - TokenBucket.COST
      return [verdict, { ...next, level }]
    })
  },
  {
    id: "limits.one-less-per-minute",
    does: "Refuses the last request of the minute.",
    breaks: "limits.no-early-429",
    killedBy: "limits.at-once",
    words: "at once admitted 4 admitted",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(
        state,
        now,
        withPlan(policy, { perMinute: Math.max(policy.plan.perMinute - 1, 1) })
      )
      return [{ ...verdict, limit: policy.plan.perMinute }, next]
    })
  },
  {
    id: "limits.day-not-enforced",
    does: "Refuses nobody for the day.",
    breaks: "limits.per-day",
    killedBy: "limits.day",
    words: "81 requests admitted",
    where: decides((state, now, policy) =>
      RateLimit.step(state, now, withPlan(policy, { perDay: Plan.maxRequests }))
    )
  },
  {
    id: "limits.day-too-short",
    does: "Refuses the last ten requests of the day.",
    breaks: "limits.no-early-429",
    killedBy: "limits.day",
    words: "two minutes 429 after 30",
    where: decides((state, now, policy) =>
      RateLimit.step(state, now, withPlan(policy, { perDay: Math.max(policy.plan.perDay - 10, 1) }))
    )
  },
  {
    id: "limits.day-never-resets",
    does: "Never forgets what was used of a day.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.day",
    words: "429 again, Retry-After",
    where: decides((state, now, policy) =>
      RateLimit.step(state && { ...state, day: Math.floor(now / DAY_MS) }, now, policy)
    )
  },
  {
    id: "limits.day-of-another-zone",
    does: "Begins the day 14 hours east of UTC.",
    breaks: "limits.day-utc",
    killedBy: "bucket.outcome",
    words: "left the request admitted",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now + 14 * 3_600_000, policy)
      return [{ ...verdict, resetAt: verdict.resetAt - 14 * 3_600 }, next]
    })
  },
  {
    id: "limits.whole-minutes",
    does: "Gives everything back at once when a minute is over.",
    breaks: "limits.bucket-refill",
    killedBy: "bucket.outcome",
    words: "something being left 429, Retry-After",
    where: decides((state, now, policy) =>
      RateLimit.step(state, state !== undefined && now - state.at < 60_000 ? state.at : now, policy)
    )
  },
  {
    id: "limits.refusals-cost",
    does: "Counts refused requests too.",
    breaks: "limits.denied-costs-nothing",
    killedBy: "bucket.outcome",
    words: "something being left 429, Retry-After",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      return [
        verdict,
        verdict.outcome === "admitted" ? next : { ...next, level: next.level - TokenBucket.COST }
      ]
    })
  },
  {
    id: "limits.clock-back-refills",
    does: "Takes the time of a clock that went back, and refills when it comes forward.",
    breaks: "limits.clock-back",
    killedBy: "bucket.clock-back",
    words: "a request admitted",
    where: {
      at: "port",
      limits: deciding((state, now, policy) =>
        RateLimit.step(state && { ...state, at: Math.min(state.at, now) }, now, policy)
      )
    }
  },
  {
    id: "limits.clock-locks-out",
    does: "Refills nothing until a clock that went back has caught up.",
    breaks: "limits.clock-lead",
    killedBy: "bucket.clock-lead",
    words: "went back 429, Retry-After",
    where: {
      at: "port",
      limits: deciding((state, now, policy) => RateLimit.step(state, Math.max(now, state?.at ?? now), policy))
    }
  },
  {
    id: "limits.one-budget-for-all",
    does: "Counts all keys together.",
    breaks: "limits.counted-per-key",
    killedBy: "bucket.keys-apart",
    words: "of another key 4, with 200",
    where: {
      at: "http",
      limits: (real) => ({
        modify: real.modify,
        consume: (_key, now, policy) => real.modify("all", (state) => RateLimit.step(state, now, policy))
      })
    }
  },
  {
    id: "limits.errors-free",
    does: "Does not count requests with an invalid parameter.",
    breaks: "limits.every-request-costs",
    killedBy: "bucket.every-request-costs",
    words: "invalid parameter 4, with 400",
    where: forgetful()
  },
  {
    id: "limits.after-routing",
    does: "Answers 404 to unknown paths before it looks at the limit.",
    breaks: "limits.before-routing",
    killedBy: "bucket.before-routing",
    words: "over the limit 404",
    where: answers((response, { target }) =>
      response.status === 429 && target.endsWith("/nothing") ? Rewrite.withStatus(response, 404) : response
    )
  },
  {
    id: "limits.creations-exempt",
    does: "Lets creations through over the limit.",
    breaks: "limits.every-operation",
    killedBy: "limits.every-operation",
    words: "createPet over the limit 201",
    where: {
      at: "http",
      transport: (real, world) => (request) =>
        real(
          Rewrite.isCreation(request) && bears(request, world.keys.tiny)
            ? bearing(request, world.keys.main)
            : request
        )
    }
  },
  {
    id: "limits.refused-but-stored",
    does: "Stores the animal, then refuses for the limit.",
    breaks: "limits.refused-unstored",
    killedBy: "limits.refused-stores-nothing",
    words: "the animal in the next list",
    where: also(
      (request, { keys }) => Rewrite.isCreation(request) && bears(request, keys.tiny),
      (request, { keys }) => bearing(request, keys.main)
    )
  }
]

const waiting: ReadonlyArray<Fault> = [
  {
    id: "limits.no-retry-after",
    does: "Refuses without Retry-After.",
    breaks: "limits.retry-after-present",
    killedBy: "every.retry-after",
    words: "Retry-After is missing",
    where: retries(() => undefined)
  },
  {
    id: "limits.retry-after-fraction",
    does: "Tells a fraction of seconds.",
    breaks: "limits.retry-after-present",
    killedBy: "every.retry-after",
    words: "Retry-After: 12.5",
    where: retries((seconds) => `${seconds}.5`)
  },
  {
    id: "limits.retry-after-with-unit",
    does: "Tells the unit too.",
    breaks: "limits.retry-after-present",
    killedBy: "every.retry-after",
    words: "Retry-After: 12s",
    where: retries((seconds) => `${seconds}s`)
  },
  {
    id: "limits.retry-after-zero",
    does: "Tells to retry at once.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.promise",
    words: "429 after waiting the 0 s told",
    where: retries(() => "0")
  },
  {
    id: "limits.retry-after-past-date",
    does: "Tells a date that has passed.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.promise",
    words: "429 after waiting the 0 s told",
    where: retries((_seconds, world) => new Date(world.now() - 60_000).toUTCString())
  },
  {
    id: "limits.retry-after-half",
    does: "Tells half of the time.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.promise",
    words: "429 after waiting the 6 s told",
    where: retries((seconds) => String(Math.ceil(seconds / 2)))
  },
  {
    id: "limits.retry-after-epoch",
    does: "Tells the Unix time to retry at as if it were a wait.",
    breaks: "limits.retry-after-promise",
    killedBy: "limits.first-wait",
    words: "a day at most 1796807056 s",
    where: retries((seconds, world) => String(Math.ceil(world.now() / 1000) + seconds))
  },
  {
    id: "limits.retry-after-ms",
    does: "Tells milliseconds.",
    breaks: "limits.retry-after-exact",
    killedBy: "bucket.retry-after",
    words: "to 12 s 12000 s",
    where: retries((seconds) => `${seconds}000`)
  },
  {
    id: "limits.retry-after-too-long",
    does: "Tells the whole minute, whatever is left of it.",
    breaks: "limits.retry-after-exact",
    killedBy: "bucket.retry-after",
    words: "to 12 s 60 s",
    where: retries((seconds) => String(Math.max(seconds, 60)))
  },
  {
    id: "limits.retry-after-floor",
    does: "Rounds the wait down.",
    breaks: "limits.retry-after-promise",
    killedBy: "bucket.shortest-wait",
    words: "429, Retry-After 1 s",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      if (verdict.outcome === "admitted" || verdict.limit === policy.plan.perDay) return [verdict, next]
      return [{ ...verdict, retryAfter: Math.max(Math.floor(waitMs(next, now, policy) / 1000), 1) }, next]
    })
  },
  {
    id: "limits.retry-after-date",
    does: "Tells a date instead of seconds.",
    breaks: "limits.retry-after-seconds",
    killedBy: "every.retry-after-seconds",
    words: "Retry-After: Tue, 01 Dec 2026",
    where: retries((seconds, world) => new Date(Math.ceil(world.now() / 1000 + seconds) * 1000).toUTCString())
  },
  {
    id: "limits.retry-after-always",
    does: "Sends Retry-After with every answer.",
    breaks: "limits.retry-after-seconds",
    killedBy: "every.retry-after-seconds",
    words: "no Retry-After with 200 0",
    where: answersWith([200], (response) => Rewrite.withHeader(response, RETRY_AFTER, "0"))
  }
]

/** Refusals that are no proper answers otherwise, as those of a gateway in front. */
const refusals: ReadonlyArray<Fault> = [
  {
    id: "limits.refused-as-text",
    does: "Refuses in plain text.",
    breaks: "http.json-bodies",
    killedBy: "every.json-body",
    words: 'no JSON: "Too Many Requests"',
    where: answersWith([429], (response) => Rewrite.withBody(response, "Too Many Requests"))
  },
  {
    id: "limits.refused-as-html-type",
    does: "Refuses with JSON that it calls HTML.",
    breaks: "http.json-bodies",
    killedBy: "every.json-type",
    words: 'Content-Type of JSON "text/html"',
    where: answersWith([429], (response) => Rewrite.withHeader(response, "Content-Type", "text/html"))
  },
  {
    id: "limits.refused-without-type-parameter",
    does: "Leaves the charset out of refusals.",
    breaks: "http.content-type",
    killedBy: "every.content-type",
    words: "Content-Type: application/json",
    where: answersWith([429], (response) => Rewrite.withHeader(response, "Content-Type", "application/json"))
  },
  {
    id: "limits.refused-without-body",
    does: "Refuses with nothing in the body.",
    breaks: "errors.body",
    killedBy: "every.error-body",
    words: 'with 429 no JSON: ""',
    where: answersWith([429], (response) => Rewrite.withBody(response, ""))
  },
  {
    id: "limits.refused-with-text-status",
    does: "Tells the status of refusals as text.",
    breaks: "errors.body-types",
    killedBy: "every.error-body",
    words: "status is no integer",
    where: tellsError((error) => ({ ...error, status: "429" }))
  },
  {
    id: "limits.refused-with-other-status",
    does: "Tells status 400 in the body of refusals.",
    breaks: "errors.status-matches",
    killedBy: "every.error-status",
    words: "status 400 in the body",
    where: tellsError((error) => ({ ...error, status: 400 }))
  },
  {
    id: "limits.refused-with-more",
    does: "Repeats the wait in the body of refusals.",
    breaks: "errors.exact-body",
    killedBy: "every.exact-error",
    words: "code, message, retryAfter, status",
    where: tellsError((error) => ({ ...error, retryAfter: 12 }))
  },
  {
    id: "limits.refused-with-unknown-code",
    does: "Has a code of its own for refusals.",
    breaks: "limits.exceeded-code",
    killedBy: "every.code",
    words: "too_many_requests",
    where: tellsError((error) => ({ ...error, code: "too_many_requests" }))
  },
  {
    id: "limits.refused-with-key",
    does: "Repeats the credential in the message of refusals.",
    breaks: "errors.no-echo",
    killedBy: "every.no-echo",
    words: "the credential of the request in the message",
    where: answers((response, request) =>
      response.status === 429
        ? Rewrite.withJson(response, (error) => ({
            ...Object(error),
            message: `limit of ${headerValues(request, "authorization").join()}`
          }))
        : response
    )
  },
  {
    id: "limits.refused-with-503",
    does: "Refuses with 503.",
    breaks: "errors.no-5xx",
    killedBy: "every.no-5xx",
    words: "contract describes 503",
    where: answersWith([429], (response) => Rewrite.withStatus(response, 503))
  },
  {
    id: "limits.unknown-path-500",
    does: "Falls over unknown methods.",
    breaks: "errors.no-5xx-anywhere",
    killedBy: "every.no-5xx-anywhere",
    words: "any request 500",
    where: answersWith([405], (response) => Rewrite.withStatus(response, 500))
  },
  {
    id: "limits.refused-with-420",
    does: "Refuses with 420, as some once did.",
    breaks: "errors.listed-statuses",
    killedBy: "every.listed-status",
    words: "401, 429 420",
    where: answersWith([429], (response) => Rewrite.withStatus(response, 420))
  },
  {
    id: "limits.refused-cacheable",
    does: "Lets refusals be kept by caches.",
    breaks: "http.standard-headers",
    killedBy: "every.standard-headers",
    words: "Cache-Control is missing",
    where: answersWith([429], (response) => Rewrite.withoutHeader(response, "Cache-Control"))
  },
  {
    id: "limits.refused-with-old-date",
    does: "Sends refusals with the Date of a first one that was kept.",
    breaks: "http.date",
    killedBy: "every.date",
    words: "01 Jan 1970",
    where: answersWith([429], (response) => Rewrite.withHeader(response, "Date", new Date(0).toUTCString()))
  },
  {
    id: "limits.refused-with-one-id",
    does: "Gives all refusals the same X-Request-Id.",
    breaks: "http.request-id",
    killedBy: "every.request-id",
    words: "that of the answer before",
    where: answersWith([429], (response) => Rewrite.withHeader(response, "X-Request-Id", "refused"))
  },
  {
    id: "limits.refused-with-cors",
    does: "Lets any page of a browser read refusals.",
    breaks: "http.no-cors",
    killedBy: "every.no-cors",
    words: "Access-Control-Allow-Origin: *",
    where: answersWith([429], (response) => Rewrite.withHeader(response, "Access-Control-Allow-Origin", "*"))
  },
  {
    id: "limits.refused-with-redirect",
    does: "Redirects whom it refuses to a page about plans.",
    breaks: "http.no-redirects",
    killedBy: "every.no-redirect",
    words: "no redirect 302",
    where: answersWith([429], (response) => Rewrite.withStatus(response, 302))
  },
  {
    id: "limits.refills-in-headers",
    does: "Tells of a full window when half of it is gone.",
    breaks: "limits.bucket-refill",
    killedBy: "every.remaining-arithmetic",
    words: "after 3 5 remaining",
    where: tells(({ limit, outcome, remaining }) =>
      outcome === "admitted" && remaining < limit / 2 ? { remaining: limit } : {}
    )
  }
]

/** Windows that last longer or shorter than they are called. */
const durations: ReadonlyArray<Fault> = [
  {
    id: "limits.minute-of-second",
    does: "Starts anew each second.",
    breaks: "limits.per-minute",
    killedBy: "limits.minute-lasts",
    words: "at most 36 requests in 6 minutes",
    where: decides(windows(1_000, DAY_MS))
  },
  {
    id: "limits.minute-of-30-s",
    does: "Starts anew twice a minute.",
    breaks: "limits.per-minute",
    killedBy: "limits.minute-lasts",
    words: "at most 36 requests in 6 minutes",
    where: decides(windows(30_000, DAY_MS))
  },
  {
    id: "limits.minute-refilled-twice",
    does: "Gives back twice as much in a minute as the plan has.",
    breaks: "limits.per-minute",
    killedBy: "limits.minute-lasts",
    words: "at most 36 requests in 6 minutes",
    where: decides((state, now, policy) => {
      const since = state === undefined ? 0 : now - state.at
      return RateLimit.step(state && { ...state, at: state.at - since }, now, policy)
    })
  },
  {
    id: "limits.minute-of-90-s",
    does: "Counts a minute and a half as one.",
    breaks: "limits.no-early-429",
    killedBy: "limits.minute-lasts",
    words: "bursts of 5 requests, 61 s apart",
    where: decides(windows(90_000, DAY_MS))
  },
  {
    id: "limits.minute-of-120-s",
    does: "Counts two minutes as one.",
    breaks: "limits.no-early-429",
    killedBy: "limits.minute-lasts",
    words: "bursts of 5 requests, 61 s apart",
    where: decides(windows(120_000, DAY_MS))
  },
  {
    id: "limits.day-of-hour",
    does: "Starts the day anew each hour.",
    breaks: "limits.per-day",
    killedBy: "limits.day-lasts",
    words: "at most 160 requests in 70 hours",
    where: decides(windows(60_000, DAY_MS / 24))
  },
  {
    id: "limits.day-of-12-hours",
    does: "Starts the day anew at noon.",
    breaks: "limits.per-day",
    killedBy: "limits.day-lasts",
    words: "at most 160 requests in 70 hours",
    where: decides(windows(60_000, DAY_MS / 2))
  },
  {
    id: "limits.day-of-48-hours",
    does: "Counts two days as one.",
    breaks: "limits.no-early-429",
    killedBy: "limits.day-lasts",
    words: "after 26 hours of silence 429 after",
    where: decides(windows(60_000, 2 * DAY_MS))
  },
  {
    id: "limits.day-plus-one",
    does: "Admits one more request a day than the plan has.",
    breaks: "limits.per-day",
    killedBy: "limits.day-lasts",
    words: "more than 40 requests admitted",
    where: decides(windows(60_000, DAY_MS, 1))
  },
  {
    id: "limits.day-doubled",
    does: "Admits almost twice as many requests a day as the plan has.",
    breaks: "limits.per-day",
    killedBy: "limits.day-lasts",
    words: "more than 40 requests admitted on 3 of 3 days",
    where: decides(windows(60_000, DAY_MS, 38))
  },
  {
    id: "limits.reset-of-day",
    does: "Shows the minute's limit with a reset 20 hours ahead.",
    breaks: "limits.reset-ahead",
    killedBy: "limits.reset-within-minute",
    words: "at most 60 s ahead",
    where: tells(({ outcome }, now) =>
      outcome === "admitted" ? { resetAt: Math.ceil(now / 1000) + 20 * 3_600 } : {}
    )
  },
  {
    id: "limits.headers-of-latest",
    does: "Keeps the headers of the latest request in one place for all.",
    breaks: "limits.plan-in-force",
    killedBy: "limits.headers-own",
    words: "Limit 100000, which the main key shows",
    where: shared
  },
  {
    id: "limits.key-unknown-at-times",
    does: "Answers 401 to a valid key every 50th time.",
    breaks: "auth.bearer",
    killedBy: "every.valid-key-accepted",
    words: "the main key to be accepted 401",
    where: unknowing
  }
]

const anonymous: ReadonlyArray<Fault> = [
  {
    id: "anonymous.not-counted",
    does: "Does not count requests without a valid key.",
    breaks: "limits.anonymous",
    killedBy: "anonymous.counted",
    words: "without a valid key 59 remaining",
    where: decides((_state, now, policy) => RateLimit.step(undefined, now, policy), "network:")
  },
  {
    id: "anonymous.never-refused",
    does: "Counts requests without a valid key and refuses none.",
    breaks: "limits.anonymous-exhausted",
    killedBy: "anonymous.exhausted",
    words: "of them answered otherwise",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      return [{ ...verdict, outcome: "admitted" }, next]
    }, "network:")
  },
  {
    id: "anonymous.refuses-keys",
    does: "Refuses valid keys too when their network's bucket is empty.",
    breaks: "limits.anonymous-apart",
    killedBy: "anonymous.keys-unaffected",
    words: "of that network 429",
    where: jealous
  },
  {
    id: "anonymous.shared-with-keys",
    does: "Counts valid keys in the bucket of their network too.",
    breaks: "limits.anonymous-apart",
    killedBy: "anonymous.untouched-by-keys",
    words: "with a key 52 of 60",
    where: also(
      (request, { keys }) => bears(request, keys.main),
      (request) => bearing(request, undefined)
    )
  },
  {
    id: "anonymous.guesses-cost-keys",
    does: "Counts a wrong key for the key that it resembles.",
    breaks: "limits.guesses-apart",
    killedBy: "anonymous.guesses-apart",
    words: "at the key 99990 remaining",
    where: also(
      (request, { keys }) =>
        !bears(request, keys.main) &&
        headerValues(request, "authorization").some((value) =>
          value.startsWith(`Bearer ${keys.main.slice(0, 12)}`)
        ),
      (request, { keys }) => bearing(request, keys.main)
    )
  }
]

export const faults: ReadonlyArray<Fault> = [
  ...headers,
  ...counting,
  ...waiting,
  ...refusals,
  ...durations,
  ...anonymous
]
