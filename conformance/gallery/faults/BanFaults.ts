/** Defines faults in bans. */
import * as Effect from "effect/Effect"
import * as BanPolicy from "../../../core/limits/BanPolicy.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import type { Transport, WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Applies another rule to every caller. */
const decides = (step: RateLimits.Step): Where => RateLimits.decides(step, "")

/** Changes fields of the standard ban policy. */
const bans = (change: Partial<BanPolicy.BanPolicy>): Where => AtHttp.ban({ ...BanPolicy.standard, ...change })

const isBan = (response: WireResponse): boolean => ErrorBody.codeOf(response) === "api_key_banned"

/** Changes the responses to banned keys. */
const banned = (edit: Edit.Edit): Where =>
  AtHttp.responses({}, (response, ...sent) => (isBan(response) ? edit(response, ...sent) : response))

const isBanned = ({ outcome }: RateLimit.Verdict): boolean => outcome === "banned"

/** Sends the latest response to a banned key to every caller, forever. */
const bansAll = (real: Transport): Transport => {
  let ban: WireResponse | undefined
  return (request) =>
    Effect.map(real(request), (response) => {
      if (isBan(response)) ban = response
      return ban ?? response
    })
}

/** Sends the latest response to a banned key to every caller, until that ban ends. */
const bansAllUntilItsEnd = (real: Transport, { now }: World): Transport => {
  let ban: WireResponse | undefined
  let endsAt = 0
  return (request) =>
    Effect.map(real(request), (response) => {
      if (isBan(response)) {
        ban = response
        endsAt = (RateHeaders.of(response)?.resetAt ?? 0) * 1_000
      }
      return ban !== undefined && now() < endsAt ? ban : response
    })
}

/** Returns the state with every slot taken. */
const withoutSlots = (state: RateLimit.State | undefined): RateLimit.State | undefined =>
  state && { ...state, debt: Plan.maxRequests }

/** Returns the verdict on a denied request, as if no other request waited for a slot. */
const firstSlot = (next: RateLimit.State, now: number, policy: RateLimit.Policy): RateLimit.Verdict =>
  RateLimit.verdictOf(false, { ...next, debt: 1 }, now, policy)

/** Counts a strike for each retry before the latest announced time, which `debt` stores in epoch seconds. */
const announcing: RateLimits.Step = (state, now, policy) => {
  const announcedAt = (state?.debt ?? 0) * 1_000
  const [verdict, next] = RateLimit.step(
    state && { ...state, debt: now < announcedAt ? Plan.maxRequests : 0 },
    now,
    policy
  )
  if (verdict.outcome !== "limited") return [verdict, { ...next, debt: state?.debt ?? 0 }]
  const announced = firstSlot(next, now, policy)
  return [announced, { ...next, debt: Math.ceil(now / 1_000) + announced.retryAfter }]
}

export const faults: ReadonlyArray<Fault> = [
  fault("ban.creates-meanwhile", "Accepts creations during a ban.")
    .breaks("ban.answer", "product.banned", "429 api_key_banned to POST /pets")
    .by(
      AtHttp.transport(
        (real, world) => (request) =>
          Effect.flatMap(real(request), (response) =>
            isBan(response) && Requests.isCreation(request)
              ? real(Requests.withKey(request, world.keys.main))
              : Effect.succeed(response)
          )
      )
    ),
  fault("ban.never-begins", "Never bans a key.")
    .breaks("ban.rules", "ban.at-strike-20", "no ban after 22 strikes")
    .by(decides((state, now, policy) => RateLimit.step(state, now, { ...policy, ban: undefined }))),
  fault("ban.never-ends", "Postpones the end of a ban forever.")
    .breaks("ban.temporary", "ban.ends", "429 again, Retry-After 60 s")
    .by(
      decides((state, now, policy) =>
        RateLimit.step(state && { ...state, bannedUntil: state.bannedUntil && now + 60_000 }, now, policy)
      )
    ),
  fault("ban.ends-early", "Ends a ban after half of its duration.")
    .breaks("ban.retry-after", "ban.lasts", "a request admitted")
    .by(
      decides((state, now, policy) => {
        const isHalfOver =
          state !== undefined && now >= state.strikeAt + (state.bannedUntil - state.strikeAt) / 2
        return RateLimit.step(isHalfOver ? { ...state, bannedUntil: 0 } : state, now, policy)
      })
    ),
  fault("ban.strikes-all", "Bans every key forever once one was banned for an hour.")
    .breaks("ban.only-that-key", "ban.spares-others", "api_key_banned")
    .by({
      at: "http",
      ban: { ...BanPolicy.standard, durationsMs: [3_600_000] },
      transport: bansAll
    }),
  fault("ban.strikes-all-briefly", "Bans every key forever once one was banned for a minute.")
    .breaks("ban.only-that-key", "ban.spares-others-at-once", "api_key_banned")
    .by(AtHttp.transport(bansAll)),
  fault("ban.strikes-all-until-its-end", "Bans every key until the first ban of a minute ends.")
    .breaks("ban.only-that-key", "ban.spares-others", "api_key_banned")
    .by(AtHttp.transport(bansAllUntilItsEnd)),
  fault("ban.strikes-all-for-seconds", "Bans every key until the first ban of 20 s ends.")
    .breaks("ban.only-that-key", "ban.spares-others", "200 for another key")
    .by({ at: "http", ban: { ...BanPolicy.standard, durationsMs: [20_000] }, transport: bansAllUntilItsEnd }),
  fault("ban.answers-empty-list", "Returns an empty list to a banned key.")
    .breaks("ban.retry-after", "ban.lasts", "got 10 requests without")
    .by(banned(Edit.replace(200, "[]"))),
  fault("ban.answers-403", "Returns 403 to a banned key.")
    .breaks("ban.answer", "ban.answer", "limit=1 403")
    .by(banned(Edit.status(403))),
  fault("ban.answers-as-limit", "Sends the code of the limit to a banned key.")
    .breaks("ban.answer", "ban.answer", "denials without a ban")
    .by(banned(Edit.members((error) => ({ ...error, code: "rate_limit_exceeded" })))),
  fault("ban.forgets-headers", "Omits the rate headers during a ban.")
    .breaks("ban.headers", "ban.answer", "each a whole number, got 429 with")
    .by(banned(Edit.without("X-RateLimit-Reset"))),
  fault("ban.shows-window", "Shows the window instead of the ban to a banned key.")
    .breaks("ban.levels", "ban.levels", "a ban of about 20 s")
    .by(
      RateLimits.shows((verdict, now) =>
        isBanned(verdict) ? { resetAt: Math.ceil(now / 1000) + 20, retryAfter: 20 } : {}
      )
    ),
  fault("ban.extended-by-requests", "Restarts a ban with each request.")
    .breaks("ban.unchanged-by-requests", "ban.unmoved", " an end at")
    .by(
      decides((state, now, policy) => {
        const isDuring = state !== undefined && now < state.bannedUntil
        return RateLimit.step(isDuring ? { ...state, bannedUntil: now + 60_000 } : state, now, policy)
      })
    ),
  fault("ban.counts-during", "Prolongs the next ban with each request during a ban.")
    .breaks("ban.unchanged-by-requests", "ban.unmoved", "a ban of about 3600 s")
    .by(
      decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        return [verdict, isBanned(verdict) ? { ...next, banLevel: 3 } : next]
      })
    ),
  fault("ban.first-429", "Bans a key at its first denial.")
    .breaks("ban.first-429", "ban.at-strike-20", "a ban at strike 0")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        const strict = ban && { ...ban, strikes: 1, strikeIntervalMs: 0 }
        return RateLimit.step(withoutSlots(state), now, { ...policy, ban: strict })
      })
    ),
  fault("ban.counts-first-429", "Counts every denial as a strike, including the first.")
    .breaks("ban.first-429", "ban.at-strike-20", "a ban at strike 19")
    .by(decides((state, now, policy) => RateLimit.step(withoutSlots(state), now, policy))),
  fault("ban.counts-each-refusal", "Counts denials as strikes however close they are.")
    .breaks("ban.strike-interval", "ban.one-a-second", "concurrent requests a ban")
    .by(bans({ strikeIntervalMs: 0 })),
  fault("ban.counts-half-seconds", "Counts two strikes per second.")
    .breaks("ban.strike-interval", "ban.one-a-second", "within 12 s a ban after 20")
    .by(bans({ strikeIntervalMs: 400 })),
  fault("ban.after-19", "Bans one strike too early.")
    .breaks("ban.rules", "ban.at-strike-20", "a ban at strike 19")
    .by(bans({ strikes: 19 })),
  fault("ban.after-21", "Bans one strike too late.")
    .breaks("ban.rules", "ban.at-strike-20", "a ban at strike 21")
    .by(bans({ strikes: 21 })),
  fault("ban.counts-for-ever", "Never expires strikes.")
    .breaks("ban.strikes-expire", "ban.strikes-expire", "the new count a ban at strike 1")
    .by(bans({ withinMs: BanPolicy.maxMs })),
  fault("ban.forgets-soon", "Expires strikes after four minutes.")
    .breaks("ban.rules", "ban.strikes-together", "the first no ban after 22 strikes")
    .by(bans({ withinMs: 240_000 })),
  fault("ban.always-one-minute", "Bans for one minute at every level.")
    .breaks("ban.levels", "ban.levels", "a ban of about 60 s")
    .by(bans({ durationsMs: [60_000] })),
  fault("ban.fourth-ban-short", "Bans for at most 15 minutes.")
    .breaks("ban.levels", "ban.levels", "a ban of about 900 s")
    .by(bans({ durationsMs: [60_000, 300_000, 900_000] })),
  fault("ban.level-never-falls", "Never lowers the level of bans.")
    .breaks("ban.clean-day", "ban.clean-days", "a ban of about 3600 s")
    .by(bans({ cleanMs: BanPolicy.maxMs })),
  fault("ban.level-falls-at-once", "Resets the level of bans after an hour.")
    .breaks("ban.clean-day", "ban.clean-days", "a ban of about 60 s")
    .by(bans({ cleanMs: 3_600_000 })),
  fault("ban.strikes-polite", "Bans a client that waits for Retry-After and is denied repeatedly.")
    .breaks("ban.polite-never", "ban.polite-never", "a ban after 19 waits for Retry-After")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        const strict = ban && { ...ban, withinMs: 86_400_000 }
        return RateLimit.step(withoutSlots(state), now, { ...policy, ban: strict })
      })
    ),
  fault("ban.strikes-capped-wait", "Bans a client that retries every 30 seconds, like undici's RetryAgent.")
    .breaks("ban.capped-wait-never", "ban.capped-wait-never", "a ban after 9 waits of 30 s")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        return RateLimit.step(withoutSlots(state), now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
      })
    ),
  fault(
    "ban.strikes-workers",
    "Sends the same time to all denied clients, and counts early retries as strikes."
  )
    .breaks("ban.workers-never", "ban.workers-never", "for the limit a ban after")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        return announcing(state, now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
      })
    ),
  fault("ban.one-slot", "Sends the time of the first slot to all denied clients.")
    .breaks("limits.slots", "ban.slots", "429 again, Retry-After")
    .by(
      decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        return [verdict.outcome === "limited" ? firstSlot(next, now, policy) : verdict, next]
      })
    ),
  fault(
    "ban.strikes-day-workers",
    "Counts retries every 30 seconds as strikes after the daily limit is used up."
  )
    .breaks("ban.day-workers-never", "ban.day-workers-never", "for the limit a ban in round")
    .by(
      decides((state, now, policy) => {
        const isDayUsedUp = state !== undefined && state.used >= policy.plan.perDay
        return RateLimit.step(isDayUsedUp ? withoutSlots(state) : state, now, policy)
      })
    ),
  fault("ban.strikes-anonymous", "Also bans networks.")
    .breaks("ban.anonymous-never", "anonymous.never-banned", "api_key_banned")
    .by(
      decides((state, now, policy) =>
        RateLimit.step(state, now, { ...policy, ban: policy.ban ?? BanPolicy.standard })
      )
    )
]
