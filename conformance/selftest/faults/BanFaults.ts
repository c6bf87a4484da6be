/** Defines faults in bans. */
import * as Effect from "effect/Effect"
import * as BanPolicy from "../../../core/limits/BanPolicy.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Transport, WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Applies another rule to every caller. */
const decides = (step: RateLimits.Step): Where => RateLimits.decides(step, "")

/** Changes fields of the standard ban policy. */
const withBanPolicy = (change: Partial<BanPolicy.BanPolicy>): Where =>
  AtHttp.ban({ ...BanPolicy.standard, ...change })

const isBan = (response: WireResponse): boolean => ErrorBody.codeOf(response) === "api_key_banned"

/** Sends the latest response to a banned key to every caller, forever. */
const bansAll = (real: Transport): Transport => {
  let ban: WireResponse | undefined
  return (request) =>
    Effect.map(real(request), (response) => {
      if (isBan(response)) ban = response
      return ban ?? response
    })
}

/** Returns the state with every slot taken. */
const withoutSlots = (state: RateLimit.State | undefined): RateLimit.State | undefined =>
  state && { ...state, debt: Plan.maxRequests }

export const faults: ReadonlyArray<Fault> = [
  fault("ban.creates-meanwhile", "Accepts creations during a ban.")
    .breaks("ban.answer")
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
    .breaks("ban.rules")
    .by(decides((state, now, policy) => RateLimit.step(state, now, { ...policy, ban: undefined }))),
  fault("ban.never-ends", "Never ends a ban.")
    .breaks("ban.temporary")
    .by(
      decides((state, now, policy) =>
        RateLimit.step(state && { ...state, bannedUntil: state.bannedUntil && now + 60_000 }, now, policy)
      )
    ),
  fault("ban.bans-all-after-a-minute", "Bans every key forever after one key was banned for a minute.")
    .breaks("ban.only-that-key")
    .by(AtHttp.transport(bansAll)),
  fault("ban.extended-by-requests", "Restarts a ban with each request during the ban.")
    .breaks("ban.unchanged-by-requests")
    .by(
      decides((state, now, policy) => {
        const isDuring = state !== undefined && now < state.bannedUntil
        return RateLimit.step(isDuring ? { ...state, bannedUntil: now + 60_000 } : state, now, policy)
      })
    ),
  fault("ban.counts-first-429", "Counts every denial as a strike, including the first.")
    .breaks("ban.rules")
    .by(decides((state, now, policy) => RateLimit.step(withoutSlots(state), now, policy))),
  fault("ban.counts-each-denial", "Counts denials as strikes even if they are less than a second apart.")
    .breaks("ban.rules")
    .by(withBanPolicy({ strikeIntervalMs: 0 })),
  fault("ban.after-19", "Bans a key after 19 strikes.")
    .breaks("ban.rules")
    .by(withBanPolicy({ strikes: 19 })),
  fault("ban.counts-for-ever", "Counts strikes of any age.")
    .breaks("ban.rules")
    .by(withBanPolicy({ withinMs: BanPolicy.maxMs })),
  fault("ban.always-one-minute", "Bans for one minute at every level.")
    .breaks("ban.levels")
    .by(withBanPolicy({ durationsMs: [60_000] })),
  fault("ban.level-never-falls", "Never lowers the level of bans.")
    .breaks("ban.clean-day")
    .by(withBanPolicy({ cleanMs: BanPolicy.maxMs })),
  fault("ban.bans-networks", "Also bans networks.")
    .breaks("ban.anonymous-never")
    .by(
      decides((state, now, policy) =>
        RateLimit.step(state, now, { ...policy, ban: policy.ban ?? BanPolicy.standard })
      )
    )
]
