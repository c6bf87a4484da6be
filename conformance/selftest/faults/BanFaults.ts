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
const withBanPolicy = (change: Partial<BanPolicy.BanPolicy>): Where =>
  AtHttp.ban({ ...BanPolicy.standard, ...change })

const isBan = (response: WireResponse): boolean => ErrorBody.codeOf(response) === "api_key_banned"

/** Changes the responses to banned keys. */
const onBanned = (edit: Edit.Edit): Where =>
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
const verdictOfFirstSlot = (
  next: RateLimit.State,
  now: number,
  policy: RateLimit.Policy
): RateLimit.Verdict => RateLimit.verdictOf(false, { ...next, debt: 1 }, now, policy)

/** Counts a strike for each retry before the latest announced time, which `debt` stores in epoch seconds. */
const countEarlyRetries: RateLimits.Step = (state, now, policy) => {
  const announcedAt = (state?.debt ?? 0) * 1_000
  const [verdict, next] = RateLimit.step(
    state && { ...state, debt: now < announcedAt ? Plan.maxRequests : 0 },
    now,
    policy
  )
  if (verdict.outcome !== "limited") return [verdict, { ...next, debt: state?.debt ?? 0 }]
  const announced = verdictOfFirstSlot(next, now, policy)
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
  fault("ban.never-ends", "Never ends a ban.")
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
  fault("ban.bans-all", "Bans every key forever after one key was banned for an hour.")
    .breaks("ban.only-that-key", "ban.spares-others", "api_key_banned")
    .by({
      at: "http",
      ban: { ...BanPolicy.standard, durationsMs: [3_600_000] },
      transport: bansAll
    }),
  fault("ban.bans-all-after-a-minute", "Bans every key forever after one key was banned for a minute.")
    .breaks("ban.only-that-key", "ban.spares-others-at-once", "api_key_banned")
    .by(AtHttp.transport(bansAll)),
  fault("ban.bans-all-until-its-end", "Bans every key until the ban of one key ends.")
    .breaks("ban.only-that-key", "ban.spares-others", "api_key_banned")
    .by(AtHttp.transport(bansAllUntilItsEnd)),
  fault("ban.bans-all-for-seconds", "Bans every key until the ban of one key ends after 20 seconds.")
    .breaks("ban.only-that-key", "ban.spares-others", "200 for another key")
    .by({ at: "http", ban: { ...BanPolicy.standard, durationsMs: [20_000] }, transport: bansAllUntilItsEnd }),
  fault("ban.returns-empty-list", "Returns an empty list for a banned key.")
    .breaks("ban.retry-after", "ban.lasts", "got 10 requests without")
    .by(onBanned(Edit.replace(200, "[]"))),
  fault("ban.returns-403", "Returns 403 for a banned key.")
    .breaks("ban.answer", "ban.answer", "limit=1 403")
    .by(onBanned(Edit.status(403))),
  fault("ban.code-of-limit", "Sends the code rate_limit_exceeded to a banned key.")
    .breaks("ban.answer", "ban.answer", "denials without a ban")
    .by(onBanned(Edit.members((error) => ({ ...error, code: "rate_limit_exceeded" })))),
  fault("ban.omits-reset", "Omits X-RateLimit-Reset during a ban.")
    .breaks("ban.headers", "ban.answer", "each a whole number, got 429 with")
    .by(onBanned(Edit.without("X-RateLimit-Reset"))),
  fault("ban.shows-window", "Shows the end of a window instead of the end of the ban to a banned key.")
    .breaks("ban.levels", "ban.levels", "a ban of about 20 s")
    .by(
      RateLimits.shows((verdict, now) =>
        isBanned(verdict) ? { resetAt: Math.ceil(now / 1000) + 20, retryAfter: 20 } : {}
      )
    ),
  fault("ban.extended-by-requests", "Restarts a ban with each request during the ban.")
    .breaks("ban.unchanged-by-requests", "ban.unmoved", " an end at")
    .by(
      decides((state, now, policy) => {
        const isDuring = state !== undefined && now < state.bannedUntil
        return RateLimit.step(isDuring ? { ...state, bannedUntil: now + 60_000 } : state, now, policy)
      })
    ),
  fault("ban.counts-during", "Raises the level of the next ban if a request arrives during the current ban.")
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
  fault("ban.counts-each-denial", "Counts denials as strikes even if they are less than a second apart.")
    .breaks("ban.strike-interval", "ban.one-a-second", "concurrent requests a ban")
    .by(withBanPolicy({ strikeIntervalMs: 0 })),
  fault("ban.counts-half-seconds", "Counts up to two strikes per second.")
    .breaks("ban.strike-interval", "ban.one-a-second", "within 12 s a ban after 20")
    .by(withBanPolicy({ strikeIntervalMs: 400 })),
  fault("ban.after-19", "Bans a key after 19 strikes.")
    .breaks("ban.rules", "ban.at-strike-20", "a ban at strike 19")
    .by(withBanPolicy({ strikes: 19 })),
  fault("ban.after-21", "Bans a key only after 21 strikes.")
    .breaks("ban.rules", "ban.at-strike-20", "a ban at strike 21")
    .by(withBanPolicy({ strikes: 21 })),
  fault("ban.counts-for-ever", "Counts strikes of any age.")
    .breaks("ban.strikes-expire", "ban.strikes-expire", "the new count a ban at strike 1")
    .by(withBanPolicy({ withinMs: BanPolicy.maxMs })),
  fault("ban.strikes-expire-soon", "Ignores strikes that are older than four minutes.")
    .breaks("ban.rules", "ban.strikes-together", "the first no ban after 22 strikes")
    .by(withBanPolicy({ withinMs: 240_000 })),
  fault("ban.always-one-minute", "Bans for one minute at every level.")
    .breaks("ban.levels", "ban.levels", "a ban of about 60 s")
    .by(withBanPolicy({ durationsMs: [60_000] })),
  fault("ban.fourth-ban-short", "Bans for at most 15 minutes.")
    .breaks("ban.levels", "ban.levels", "a ban of about 900 s")
    .by(withBanPolicy({ durationsMs: [60_000, 300_000, 900_000] })),
  fault("ban.level-never-falls", "Never lowers the level of bans.")
    .breaks("ban.clean-day", "ban.clean-days", "a ban of about 3600 s")
    .by(withBanPolicy({ cleanMs: BanPolicy.maxMs })),
  fault("ban.level-falls-at-once", "Resets the level of bans after an hour.")
    .breaks("ban.clean-day", "ban.clean-days", "a ban of about 60 s")
    .by(withBanPolicy({ cleanMs: 3_600_000 })),
  fault("ban.bans-polite", "Bans a client that waits for Retry-After and is denied repeatedly.")
    .breaks("ban.polite-never", "ban.polite-never", "a ban after 19 waits for Retry-After")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        const strict = ban && { ...ban, withinMs: 86_400_000 }
        return RateLimit.step(withoutSlots(state), now, { ...policy, ban: strict })
      })
    ),
  fault("ban.bans-capped-wait", "Bans a client that retries every 30 seconds, like undici's RetryAgent.")
    .breaks("ban.capped-wait-never", "ban.capped-wait-never", "a ban after 9 waits of 30 s")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        return RateLimit.step(withoutSlots(state), now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
      })
    ),
  fault(
    "ban.bans-workers",
    "Announces the same slot to all denied requests, and counts early retries as strikes."
  )
    .breaks("ban.workers-never", "ban.workers-never", "for the limit a ban after")
    .by(
      decides((state, now, policy) => {
        const { ban } = policy
        return countEarlyRetries(state, now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
      })
    ),
  fault("ban.one-slot", "Announces the first slot to all denied requests.")
    .breaks("limits.slots", "ban.slots", "429 again, Retry-After")
    .by(
      decides((state, now, policy) => {
        const [verdict, next] = RateLimit.step(state, now, policy)
        return [verdict.outcome === "limited" ? verdictOfFirstSlot(next, now, policy) : verdict, next]
      })
    ),
  fault("ban.bans-day-workers", "Counts each retry as a strike after the daily limit is used up.")
    .breaks("ban.day-workers-never", "ban.day-workers-never", "for the limit a ban in round")
    .by(
      decides((state, now, policy) => {
        const isDayUsedUp = state !== undefined && state.used >= policy.plan.perDay
        return RateLimit.step(isDayUsedUp ? withoutSlots(state) : state, now, policy)
      })
    ),
  fault("ban.bans-networks", "Also bans networks.")
    .breaks("ban.anonymous-never", "anonymous.never-banned", "api_key_banned")
    .by(
      decides((state, now, policy) =>
        RateLimit.step(state, now, { ...policy, ban: policy.ban ?? BanPolicy.standard })
      )
    )
]
