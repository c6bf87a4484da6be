/** Backends with a fault in their bans. */
import * as Effect from "effect/Effect"
import * as BanPolicy from "../../../core/limits/BanPolicy.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Transport, WireRequest, WireResponse } from "../../http/Wire.ts"
import type { Fault, Spoil, Where } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

type Decision = readonly [RateLimit.Verdict, RateLimit.State]

/** Decides by another rule. */
const deciding =
  (
    step: (state: RateLimit.State | undefined, now: number, policy: RateLimit.Policy) => Decision
  ): Spoil<RateLimitStore["Service"]> =>
  (real) => ({
    modify: real.modify,
    consume: (key, now, policy) => real.modify(key, (state) => step(state, now, policy))
  })

const decides = (step: Parameters<typeof deciding>[0]): Where => ({ at: "http", limits: deciding(step) })

/** Bans by other numbers. */
const bans = (change: Partial<BanPolicy.BanPolicy>): Where => ({
  at: "http",
  ban: { ...BanPolicy.standard, ...change }
})

const isBan = (response: WireResponse): boolean => ErrorBody.codeOf(response) === "api_key_banned"

/** Answers banned keys otherwise. */
const answersBan = (change: (response: WireResponse) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers((response) => (isBan(response) ? change(response) : response))
})

const isBanned = ({ outcome }: RateLimit.Verdict): boolean => outcome === "banned"

/** Whoever asks while a key is banned gets the same answer. */
const bansAll =
  (sees: (request: WireRequest) => boolean) =>
  (real: Transport): Transport => {
    let ban: WireResponse | undefined
    return (request) =>
      Effect.map(real(request), (response) => {
        if (isBan(response)) ban = response
        return ban !== undefined && sees(request) ? ban : response
      })
  }

/** A state in which every slot was told to somebody. */
const withoutSlots = (state: RateLimit.State | undefined): RateLimit.State | undefined =>
  state && { ...state, debt: Plan.maxRequests }

/** The verdict on a denied request as if it was the only one. */
const firstSlot = (next: RateLimit.State, now: number, policy: RateLimit.Policy): RateLimit.Verdict =>
  RateLimit.verdictOf(false, { ...next, debt: 1 }, now, policy)

/** Counts as a strike what comes before the time announced last, to whomever it was; `debt` holds its seconds. */
const announcing = (state: RateLimit.State | undefined, now: number, policy: RateLimit.Policy): Decision => {
  const announcedAt = (state?.debt ?? 0) * 1_000
  const [verdict, next] = RateLimit.step(
    state && { ...state, debt: now < announcedAt ? Plan.maxRequests : 0 },
    now,
    policy
  )
  if (verdict.outcome !== "limited") return [verdict, { ...next, debt: state?.debt ?? 0 }]
  const told = firstSlot(next, now, policy)
  return [told, { ...next, debt: Math.ceil(now / 1_000) + told.retryAfter }]
}

export const faults: ReadonlyArray<Fault> = [
  {
    id: "ban.never-begins",
    does: "Bans nobody.",
    breaks: "ban.rules",
    killedBy: "ban.at-strike-20",
    words: "no ban after 22 strikes",
    where: decides((state, now, policy) => RateLimit.step(state, now, { ...policy, ban: undefined }))
  },
  {
    id: "ban.never-ends",
    does: "Puts off the end of a ban for ever.",
    breaks: "ban.temporary",
    killedBy: "ban.ends",
    words: "429 again, Retry-After 60 s",
    where: decides((state, now, policy) =>
      RateLimit.step(state && { ...state, bannedUntil: state.bannedUntil && now + 60_000 }, now, policy)
    )
  },
  {
    id: "ban.ends-early",
    does: "Ends a ban after half of its time.",
    breaks: "ban.retry-after",
    killedBy: "ban.lasts",
    words: "a request admitted",
    where: decides((state, now, policy) => {
      const isHalfOver =
        state !== undefined && now >= state.strikeAt + (state.bannedUntil - state.strikeAt) / 2
      return RateLimit.step(isHalfOver ? { ...state, bannedUntil: 0 } : state, now, policy)
    })
  },
  {
    id: "ban.strikes-all",
    does: "Bans every key while one is banned, and for an hour.",
    breaks: "ban.only-that-key",
    killedBy: "ban.spares-others",
    words: "api_key_banned",
    where: { ...bans({ durationsMs: [3_600_000] }), at: "http", transport: bansAll(() => true) }
  },
  {
    id: "ban.strikes-all-briefly",
    does: "Bans every key for the minute that one is banned.",
    breaks: "ban.only-that-key",
    killedBy: "ban.spares-others-at-once",
    words: "api_key_banned",
    where: { at: "http", transport: bansAll(() => true) }
  },
  {
    id: "ban.answers-empty-list",
    does: "Shows a banned key no animals.",
    breaks: "ban.retry-after",
    killedBy: "ban.lasts",
    words: "got 10 requests without",
    where: answersBan((response) => Rewrite.withBody(Rewrite.withStatus(response, 200), "[]"))
  },
  {
    id: "ban.answers-403",
    does: "Answers a banned key with 403.",
    breaks: "ban.answer",
    killedBy: "ban.answer",
    words: "limit=1 403",
    where: answersBan((response) => Rewrite.withStatus(response, 403))
  },
  {
    id: "ban.answers-as-limit",
    does: "Tells a banned key that it is over the limit.",
    breaks: "ban.answer",
    killedBy: "ban.answer",
    words: "refusals without ban",
    where: answersBan((response) =>
      Rewrite.withJson(response, (error) => ({ ...Object(error), code: "rate_limit_exceeded" }))
    )
  },
  {
    id: "ban.forgets-headers",
    does: "Answers a banned key without rate headers.",
    breaks: "ban.headers",
    killedBy: "ban.answer",
    words: "a whole number each, got 429 with",
    where: answersBan((response) => Rewrite.withoutHeader(response, "X-RateLimit-Reset"))
  },
  {
    id: "ban.shows-window",
    does: "Tells a banned key of its window instead of the ban.",
    breaks: "ban.levels",
    killedBy: "ban.levels",
    words: "one of about 20 s",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      return [
        isBanned(verdict) ? { ...verdict, resetAt: Math.ceil(now / 1000) + 20, retryAfter: 20 } : verdict,
        next
      ]
    })
  },
  {
    id: "ban.extended-by-requests",
    does: "Begins a ban anew with each request.",
    breaks: "ban.unchanged-by-requests",
    killedBy: "ban.unmoved",
    words: "still an end at",
    where: decides((state, now, policy) => {
      const isDuring = state !== undefined && now < state.bannedUntil
      return RateLimit.step(isDuring ? { ...state, bannedUntil: now + 60_000 } : state, now, policy)
    })
  },
  {
    id: "ban.counts-during",
    does: "Makes the next ban longer with each request during a ban.",
    breaks: "ban.unchanged-by-requests",
    killedBy: "ban.unmoved",
    words: "one of about 3600 s",
    where: decides((state, now, policy) => {
      const decision = RateLimit.step(state, now, policy)
      const [verdict, next] = decision
      return isBanned(verdict) ? [verdict, { ...next, banLevel: 3 }] : decision
    })
  },
  {
    id: "ban.first-429",
    does: "Bans with the first refusal.",
    breaks: "ban.first-429",
    killedBy: "ban.at-strike-20",
    words: "a ban at strike 0",
    where: decides((state, now, policy) => {
      const { ban } = policy
      const strict = ban && { ...ban, strikes: 1, strikeIntervalMs: 0 }
      return RateLimit.step(withoutSlots(state), now, { ...policy, ban: strict })
    })
  },
  {
    id: "ban.counts-first-429",
    does: "Counts every refusal as a strike, the first one too.",
    breaks: "ban.first-429",
    killedBy: "ban.at-strike-20",
    words: "a ban at strike 19",
    where: decides((state, now, policy) => RateLimit.step(withoutSlots(state), now, policy))
  },
  {
    id: "ban.counts-each-refusal",
    does: "Counts refusals as strikes however close they are.",
    breaks: "ban.strike-interval",
    killedBy: "ban.one-a-second",
    words: "requests at once a ban",
    where: bans({ strikeIntervalMs: 0 })
  },
  {
    id: "ban.counts-half-seconds",
    does: "Counts two strikes in a second.",
    breaks: "ban.strike-interval",
    killedBy: "ban.one-a-second",
    words: "within 12 s a ban after 20",
    where: bans({ strikeIntervalMs: 400 })
  },
  {
    id: "ban.after-19",
    does: "Bans one strike too early.",
    breaks: "ban.rules",
    killedBy: "ban.at-strike-20",
    words: "a ban at strike 19",
    where: bans({ strikes: 19 })
  },
  {
    id: "ban.after-21",
    does: "Bans one strike too late.",
    breaks: "ban.rules",
    killedBy: "ban.at-strike-20",
    words: "a ban at strike 21",
    where: bans({ strikes: 21 })
  },
  {
    id: "ban.counts-for-ever",
    does: "Never forgets a strike.",
    breaks: "ban.strikes-expire",
    killedBy: "ban.strikes-expire",
    words: "the new count a ban at strike 1",
    where: bans({ withinMs: BanPolicy.maxMs })
  },
  {
    id: "ban.forgets-soon",
    does: "Forgets strikes after four minutes.",
    breaks: "ban.rules",
    killedBy: "ban.strikes-together",
    words: "the first no ban after 22 strikes",
    where: bans({ withinMs: 240_000 })
  },
  {
    id: "ban.always-one-minute",
    does: "Bans for a minute the second time too.",
    breaks: "ban.levels",
    killedBy: "ban.levels",
    words: "one of about 60 s",
    where: bans({ durationsMs: [60_000] })
  },
  {
    id: "ban.fourth-ban-short",
    does: "Does not go beyond 15 minutes.",
    breaks: "ban.levels",
    killedBy: "ban.levels",
    words: "one of about 900 s",
    where: bans({ durationsMs: [60_000, 300_000, 900_000] })
  },
  {
    id: "ban.level-never-falls",
    does: "Never forgives a ban.",
    breaks: "ban.clean-day",
    killedBy: "ban.clean-days",
    words: "one of about 3600 s",
    where: bans({ cleanMs: BanPolicy.maxMs })
  },
  {
    id: "ban.level-falls-at-once",
    does: "Forgives all bans after an hour.",
    breaks: "ban.clean-day",
    killedBy: "ban.clean-days",
    words: "one of about 60 s",
    where: bans({ cleanMs: 3_600_000 })
  },
  {
    id: "ban.strikes-polite",
    does: "Takes a client that waits as told for one that hammers, since it is refused again and again.",
    breaks: "ban.polite-never",
    killedBy: "ban.polite-never",
    words: "a ban after 19 waits as told",
    where: decides((state, now, policy) => {
      const { ban } = policy
      const strict = ban && { ...ban, withinMs: 86_400_000 }
      return RateLimit.step(withoutSlots(state), now, { ...policy, ban: strict })
    })
  },
  {
    id: "ban.strikes-capped-wait",
    does: "Bans who comes back every 30 seconds, as undici's RetryAgent does.",
    breaks: "ban.capped-wait-never",
    killedBy: "ban.capped-wait-never",
    words: "a ban after 9 waits of 30 s",
    where: decides((state, now, policy) => {
      const { ban } = policy
      return RateLimit.step(withoutSlots(state), now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
    })
  },
  {
    id: "ban.strikes-workers",
    does: "Tells all refused clients the same time, and takes those that come too early again for offenders.",
    breaks: "ban.workers-never",
    killedBy: "ban.workers-never",
    words: "the limit alone a ban after",
    where: decides((state, now, policy) => {
      const { ban } = policy
      return announcing(state, now, { ...policy, ban: ban && { ...ban, strikes: 10 } })
    })
  },
  {
    id: "ban.one-slot",
    does: "Tells all refused clients the time of the first slot.",
    breaks: "limits.slots",
    killedBy: "ban.slots",
    words: "429 again, Retry-After",
    where: decides((state, now, policy) => {
      const [verdict, next] = RateLimit.step(state, now, policy)
      return [verdict.outcome === "limited" ? firstSlot(next, now, policy) : verdict, next]
    })
  },
  {
    id: "ban.strikes-day-workers",
    does: "Takes clients for offenders that come back every 30 seconds while the day is used up.",
    breaks: "ban.day-workers-never",
    killedBy: "ban.day-workers-never",
    words: "the limit alone a ban in round",
    where: decides((state, now, policy) => {
      const isDayUsedUp = state !== undefined && state.used >= policy.plan.perDay
      return RateLimit.step(isDayUsedUp ? withoutSlots(state) : state, now, policy)
    })
  },
  {
    id: "ban.strikes-anonymous",
    does: "Bans networks too.",
    breaks: "ban.anonymous-never",
    killedBy: "anonymous.never-banned",
    words: "api_key_banned",
    where: decides((state, now, policy) =>
      RateLimit.step(state, now, { ...policy, ban: policy.ban ?? BanPolicy.standard })
    )
  }
]
