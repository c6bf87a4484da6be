/** Defines faulty stores of rate limits, each wrong in one way. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as BanPolicy from "../../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as LeakyLock from "../spoilers/LeakyLock.ts"
import {
  blank,
  changingKeys,
  changingStored,
  consumingWith,
  onThrowingStep,
  readThenWrite,
  replacingModify
} from "../spoilers/LimitStores.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("limits-store.blank-at-first", "Passes a blank state to the first step on a key.")
    .breaks("limits-store.modify.initial", "limits-store.fold", "no state {level 60000}")
    .by(replacingModify((key, step, real) => real.modify(key, (state = blank) => step(state)))),
  fault("limits-store.field-not-stored", "Does not store when the strikes began.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "strikes 9007199254740991, strikeAt")
    .by(changingStored(() => ({ strikesFrom: 0 }))),
  fault("limits-store.fields-swapped", "Swaps the debt and the time of the latest strike.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "{at 5364662400000, debt 9007")
    .by(changingStored(({ debt, strikeAt }) => ({ debt: strikeAt, strikeAt: debt }))),
  fault("limits-store.32-bits", "Truncates the day's number of requests to 32 bits.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "used -1, debt")
    .by(changingStored(({ used }) => ({ used: used | 0 }))),
  fault("limits-store.floats", "Stores the level of the bucket in single precision.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "{level 9007199254740992")
    .by(changingStored(({ level }) => ({ level: Math.fround(level) }))),
  fault("limits-store.seconds", "Stores the end of a ban in seconds.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "bannedUntil 9007199254740000")
    .by(changingStored(({ bannedUntil }) => ({ bannedUntil: Math.floor(bannedUntil / 1_000) * 1_000 }))),
  fault("limits-store.first-wins", "Never replaces the first state of a key.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "5364662400000} {level 9007199254740991")
    .by(
      replacingModify((key, step, real) =>
        real.modify(key, (before) => {
          const [result, after] = step(before)
          return [result, before ?? after]
        })
      )
    ),
  fault("limits-store.one-key", "Stores the state of one key only.")
    .breaks("limits-store.modify.stored", "limits-store.fold", "5364662400008} no state")
    .by(
      AtPort.limits((real) => {
        let latest = ""
        return {
          modify: (key, step) =>
            Effect.suspend(() => {
              const isOther = key !== latest
              latest = key
              return real.modify(key, (state) => step(isOther ? undefined : state))
            })
        }
      })
    ),
  fault("limits-store.result-as-json", "Converts the result of a step to JSON and back.")
    .breaks("limits-store.modify.answer", "limits-store.answer", "something else")
    .by(
      replacingModify((key, step, real) =>
        Effect.map(real.modify(key, step), (result) =>
          typeof result === "object" ? JSON.parse(JSON.stringify(result)) : result
        )
      )
    ),
  fault("limits-store.result-run", "Runs a result that is an effect.")
    .breaks("limits-store.modify.answer", "limits-store.answer", "a defect: Error: a result")
    .by(
      replacingModify((key, step, real) =>
        Effect.flatMap(real.modify(key, step), (result) =>
          // The fault is running the effect, so its type does not matter.
          Effect.isEffect(result) ? Effect.orDie(result as Effect.Effect<never>) : Effect.succeed(result)
        )
      )
    ),
  fault("limits-store.keys-case", "Ignores the letter case of rate-limit keys.")
    .breaks("limits-store.modify.keys-apart", "limits-store.keys-apart", "no state {level")
    .by(changingKeys((key) => key.toLowerCase())),
  fault("limits-store.keys-trimmed", "Ignores trailing spaces of keys.")
    .breaks("limits-store.modify.keys-apart", "limits-store.keys-apart", "no state {level")
    .by(changingKeys((key) => key.replace(/ +$/, ""))),
  fault("limits-store.keys-normalized", "Compares rate-limit keys in Unicode NFC.")
    .breaks("limits-store.modify.keys-apart", "limits-store.keys-apart", "no state {level")
    .by(changingKeys((key) => key.normalize("NFC"))),
  fault("limits-store.keys-cut", "Compares only the first 64 characters of keys.")
    .breaks("limits-store.modify.keys-apart", "limits-store.keys-apart", "no state {level")
    .by(changingKeys((key) => key.slice(0, 64))),
  fault("limits-store.keys-latin", "Replaces characters above U+00FF in keys with a question mark.")
    .breaks("limits-store.modify.keys-apart", "limits-store.keys-apart", "no state {level")
    .by(changingKeys((key) => key.replace(/[^\0-\xff]/gu, "?"))),
  fault("limits-store.raced", "Reads a state, yields, and writes the next, so that one of two calls is lost.")
    .breaks("limits-store.modify.atomic", "limits-store.at-once", "different states seen 1")
    .by(readThenWrite(Effect.yieldNow)),
  fault(
    "limits-store.raced-in-parallel",
    "Reads a state, yields, and writes the next, so that the results of parallel calls conflict."
  )
    .breaks("limits-store.linearizable", "limits-store.parallel", "no order of the calls explains")
    .by(readThenWrite(Effect.yieldNow)),
  fault("limits-store.raced-closely", "Reads a state and writes the next in a second step, without yielding.")
    .breaks("limits-store.linearizable", "limits-store.interleaved", "no order of the calls explains")
    .by(readThenWrite(Effect.void)),
  fault("limits-store.one-of-a-group", "Passes the same state to all waiting steps on one key.")
    .breaks("limits-store.modify.atomic", "limits-store.at-once", "different states seen 1")
    .by(
      AtPort.limits((real) => {
        const group = new Map<string, RateLimit.State | undefined>()
        return {
          modify: (key, step) =>
            Effect.gen(function* () {
              const result = yield* real.modify(key, (state) => {
                if (!group.has(key)) group.set(key, state)
                return step(group.get(key))
              })
              yield* Effect.yieldNow
              group.delete(key)
              return result
            })
        }
      })
    ),
  fault("limits-store.throwing-step-resets", "Stores a blank state when a step throws.")
    .breaks("limits-store.modify.throwing-step", "limits-store.throwing-step", "no state {level 60000}")
    .by(
      onThrowingStep((real, key, defect) =>
        Effect.andThen(
          real.modify(key, () => [undefined, blank]),
          Effect.die(defect)
        )
      )
    ),
  fault("limits-store.throwing-step-succeeds", "Succeeds without a result when a step throws.")
    .breaks("limits-store.modify.throwing-step", "limits-store.throwing-step", 'an error on "a" a result')
    .by(
      // The fault: the call succeeds, although the step threw.
      onThrowingStep(() => Effect.void as Effect.Effect<never>)
    ),
  fault("limits-store.throwing-step-locked", "Does not release its lock when a step throws.")
    .breaks("limits-store.modify.stored", "limits-store.throwing-step", "database is locked")
    .by(
      AtPort.limits((real) => {
        const guarded = LeakyLock.make()
        return { modify: (key, step) => guarded(real.modify(key, step)) }
      })
    ),
  fault("limits-store.throwing-step-shared", "Rolls back concurrent steps when a step throws.")
    .breaks("limits-store.modify.throwing-step", "limits-store.throwing-step", "counted by the others 4")
    .by(
      AtPort.limits((real) => {
        const before = new Map<string, RateLimit.State>()
        return {
          modify: (key, step) =>
            Effect.gen(function* () {
              const result = yield* real.modify(key, (state) => {
                if (state !== undefined && !before.has(key)) before.set(key, state)
                return step(state)
              })
              yield* Effect.yieldNow
              before.delete(key)
              return result
            }).pipe(
              Effect.catchDefect((defect) => {
                const state = before.get(key)
                return state === undefined
                  ? Effect.die(defect)
                  : Effect.andThen(
                      real.modify(key, () => [undefined, state]),
                      Effect.die(defect)
                    )
              })
            )
        }
      })
    ),
  fault("limits-store.evicts-many", "Stores the states of only 1,000 keys and evicts the oldest.")
    .breaks("limits-store.kept", "limits-store.kept-in-a-crowd", "bannedUntil 9007199254740991} no state")
    .by(
      AtPort.limits(() => {
        const states = new Map<string, RateLimit.State>()
        return {
          modify: (key, step) =>
            Effect.sync(() => {
              const [result, after] = step(states.get(key))
              states.delete(key)
              states.set(key, after)
              const [oldest] = states.keys()
              if (states.size > 1_000 && oldest !== undefined) states.delete(oldest)
              return result
            })
        }
      })
    ),
  fault("limits-store.deletes-bans", "Deletes a state after a minute, although its ban may last longer.")
    .breaks("limits-store.kept", "limits-store.kept-in-a-crowd", "used 3} no state")
    .by(
      replacingModify((key, step, real) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          real.modify(key, (state) =>
            step(state !== undefined && state.at + 60_000 > now ? state : undefined)
          )
        )
      )
    ),
  fault(
    "limits-store.interrupted-half",
    "Writes a state in two steps; an interruption between them loses its ban."
  )
    .breaks("limits-store.interruption", "limits-store.interrupted", "the other numbers unchanged")
    .by(
      AtPort.limits(() => {
        const states = new Map<string, RateLimit.State>()
        return {
          modify: (key, step) =>
            Effect.gen(function* () {
              const [result, after] = step(states.get(key))
              states.set(key, { ...after, bannedUntil: 0 })
              yield* Effect.yieldNow
              states.set(key, { ...(states.get(key) ?? after), bannedUntil: after.bannedUntil })
              return result
            })
        }
      })
    ),
  fault("limits-store.interrupted-locked", "Does not release its lock when `modify` is interrupted.")
    .breaks("limits-store.interruption", "limits-store.interrupted", "database is locked")
    .by(
      AtPort.limits((real) => {
        const guarded = LeakyLock.make()
        return { modify: (key, step) => guarded(real.modify(key, step)) }
      })
    ),
  fault(
    "limits-store.interrupted-rolled-back",
    "Rolls back an interrupted `modify` and all later ones of the same key."
  )
    .breaks("limits-store.interruption", "limits-store.interrupted", "interrupted ones ")
    .by(
      replacingModify((key, step, real) =>
        Effect.suspend(() => {
          let before: RateLimit.State | undefined
          return real
            .modify(key, (state) => {
              before = state
              return step(state)
            })
            .pipe(
              Effect.tap(() => Effect.repeat(Effect.yieldNow, { times: 8 })),
              Effect.onInterrupt(() =>
                Effect.ignore(real.modify(key, (state = blank) => [0, before ?? state]))
              )
            )
        })
      )
    ),
  fault("limits-store.consume-remaining", "Returns one remaining request too many from `consume`.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "limit 1, remaining 1")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [{ ...verdict, remaining: verdict.remaining + 1 }, after]
      })
    ),
  fault("limits-store.consume-never-bans", "Never bans a caller in `consume`.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "limited, limit 1")
    .by(consumingWith((state, now, policy) => RateLimit.step(state, now, { ...policy, ban: undefined }))),
  fault("limits-store.consume-bans-all", "Bans callers in `consume` even without a ban policy.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "debt 2, strikes 1, strikesFrom")
    .by(
      consumingWith((state, now, { ban = BanPolicy.standard, plan }) =>
        RateLimit.step(state, now, { plan, ban })
      )
    ),
  fault("limits-store.consume-rounds", "Rounds the level of the bucket to whole requests.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "{at 5364662388655")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [verdict, { ...after, level: Math.floor(after.level / 60_000) * 60_000 }]
      })
    ),
  fault("limits-store.consume-denied-costs", "Counts denied requests for the day.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "used 2, debt 1")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [verdict, verdict.outcome === "limited" ? { ...after, used: after.used + 1 } : after]
      })
    ),
  fault("limits-store.consume-goes-back", "Moves the time of a state back when the clock steps back.")
    .breaks("limits.clock-back", "limits-store.counts", "level 6, at 5364662400001")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [verdict, verdict.outcome === "banned" ? after : { ...after, at: now }]
      })
    ),
  fault("limits-store.consume-local-day", "Starts the day an hour before midnight UTC.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "day 62091, used 1}")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        return [verdict, { ...after, day: Math.max(after.day, Math.floor((now + 3_600_000) / 86_400_000)) }]
      })
    ),
  fault("limits-store.consume-last-ban", "Restarts at the lowest ban level after the longest ban.")
    .breaks("limits-store.consume.equal", "limits-store.counts", "strikeAt 5364666175655, bannedUntil")
    .by(
      consumingWith((state, now, policy) => {
        const [verdict, after] = RateLimit.step(state, now, policy)
        const isLongest = after.banLevel > 0 && after.banLevel === state?.banLevel && after.strikeAt === now
        return [verdict, isLongest && after.strikes === 0 ? { ...after, banLevel: 0 } : after]
      })
    ),
  fault("limits-store.consume-in-seconds", "Rounds the time of `consume` down to whole seconds.")
    .breaks("limits-store.consume.clock", "limits-store.counts", "reset at 5364662447")
    .by(
      consumingWith((state, now, policy) => RateLimit.step(state, Math.floor(now / 1_000) * 1_000, policy))
    ),
  fault(
    "limits-store.consume-raced",
    "Reads a state for `consume`, yields, and writes the next, so that concurrent requests are counted as one."
  )
    .breaks("limits-store.consume.atomic", "limits-store.counts-at-once", "50 admitted 60")
    .by(
      AtPort.limits((real) => ({
        modify: real.modify,
        consume: (key, now, policy) =>
          Effect.gen(function* () {
            const before = yield* real.modify(key, (state) => [
              state,
              state ?? RateLimit.initial(now, policy.plan)
            ])
            yield* Effect.yieldNow
            const [verdict, after] = RateLimit.step(before, now, policy)
            return yield* real.modify(key, () => [verdict, after])
          })
      }))
    ),
  fault("limits-store.outage-open", "Admits every request when its backend does not respond.")
    .breaks("limits-store.fails-typed", "limits-store.outage", "as if nothing were wrong")
    .by(
      replacingModify((key, step, real) =>
        Effect.catch(real.modify(key, step), () => Effect.sync(() => step(undefined)[0]))
      )
    ),
  fault("limits-store.outage-dies", "Dies in `modify` when its backend does not respond.")
    .breaks("limits-store.fails-typed", "limits-store.outage", "a defect: StoreUnavailable")
    .by(replacingModify((key, step, real) => Effect.orDie(real.modify(key, step)))),
  fault("limits-store.outage-step-tried", "Runs the step without a state before it calls its backend.")
    .breaks("limits-store.fails-typed", "limits-store.outage", "a defect: Error: a bug in")
    .by(
      replacingModify((key, step, real) =>
        Effect.suspend(() => {
          step(undefined)
          return real.modify(key, step)
        })
      )
    )
]
