/** Backends with a fault in: RateLimitStore. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import * as BanPolicy from "../../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import type { RateLimitStore, Step } from "../../../core/ports/RateLimitStore.ts"
import type { Fault, Spoil } from "../Fault.ts"
import * as LeakyLock from "./LeakyLock.ts"

type Limits = RateLimitStore["Service"]

/** Keeps states otherwise than they were stored. */
const keeping =
  (change: (state: RateLimit.State) => Partial<RateLimit.State>): Spoil<Limits> =>
  (real) => ({
    modify: (key, step) =>
      real.modify(key, (before) => {
        const [answer, after] = step(before)
        return [answer, { ...after, ...change(after) }]
      })
  })

/** Takes keys for others. */
const keyed =
  (change: (key: string) => string): Spoil<Limits> =>
  (real) => ({ modify: (key, step) => real.modify(change(key), step) })

/** Reads, and only later writes. */
const readThenWrite =
  (pause: Effect.Effect<void>): Spoil<Limits> =>
  () => {
    const states = new Map<string, RateLimit.State>()
    return {
      modify: <A>(key: string, step: Step<A>) =>
        Effect.gen(function* () {
          const before = states.get(key)
          yield* pause
          const [answer, after] = step(before)
          yield* Effect.sync(() => states.set(key, after))
          return answer
        })
    }
  }

/** Makes something else of what a step throws. */
const catching =
  (
    handle: (real: Limits, key: string, defect: unknown) => Effect.Effect<never, StoreUnavailable>
  ): Spoil<Limits> =>
  (real) => ({
    modify: (key, step) => Effect.catchDefect(real.modify(key, step), (defect) => handle(real, key, defect))
  })

/** Offers `consume`, with a step of its own. */
const consuming =
  (step: typeof RateLimit.step): Spoil<Limits> =>
  (real) => ({
    modify: real.modify,
    consume: (key, now, policy) => real.modify(key, (state) => step(state, now, policy))
  })

const port = (
  id: string,
  does: string,
  breaks: Fault["breaks"],
  killedBy: string,
  words: string,
  limits: Spoil<Limits>
): Fault => ({ id, does, breaks, killedBy, words, where: { at: "port", limits } })

const blank: RateLimit.State = RateLimit.initial(0, { perMinute: 1, perDay: 1 })

export const faults: ReadonlyArray<Fault> = [
  // states
  port(
    "limits-store.blank-at-first",
    "Hands a blank state to the first step on a key.",
    "limits-store.modify.initial",
    "limits-store.fold",
    "no state {level 60000}",
    (real) => ({ modify: (key, step) => real.modify(key, (state = blank) => step(state)) })
  ),
  port(
    "limits-store.field-forgotten",
    "Does not keep when the strikes began.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "strikes 9007199254740991, strikeAt",
    keeping(() => ({ strikesFrom: 0 }))
  ),
  port(
    "limits-store.fields-swapped",
    "Keeps the slots in the place of the latest strike, and the other way round.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "{at 5364662400000, debt 9007",
    keeping(({ debt, strikeAt }) => ({ debt: strikeAt, strikeAt: debt }))
  ),
  port(
    "limits-store.32-bits",
    "Keeps what was used today in 32 bits.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "used -1, debt",
    keeping(({ used }) => ({ used: used | 0 }))
  ),
  port(
    "limits-store.floats",
    "Keeps the level of the bucket in single precision.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "{level 9007199254740992",
    keeping(({ level }) => ({ level: Math.fround(level) }))
  ),
  port(
    "limits-store.seconds",
    "Keeps the end of a ban in seconds.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "bannedUntil 9007199254740000",
    keeping(({ bannedUntil }) => ({ bannedUntil: Math.floor(bannedUntil / 1_000) * 1_000 }))
  ),
  port(
    "limits-store.first-wins",
    "Keeps the first state of a key for good.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "5364662400000} {level 9007199254740991",
    (real) => ({
      modify: (key, step) =>
        real.modify(key, (before) => {
          const [answer, after] = step(before)
          return [answer, before ?? after]
        })
    })
  ),
  port(
    "limits-store.one-key",
    "Has room for the state of one key.",
    "limits-store.modify.stored",
    "limits-store.fold",
    "5364662400008} no state",
    (real) => {
      let latest = ""
      return {
        modify: (key, step) =>
          Effect.suspend(() => {
            const isOther = key !== latest
            latest = key
            return real.modify(key, (state) => step(isOther ? undefined : state))
          })
      }
    }
  ),

  // answers
  port(
    "limits-store.answer-as-json",
    "Sends the answer of a step through JSON.",
    "limits-store.modify.answer",
    "limits-store.answer",
    "something else",
    (real) => ({
      modify: (key, step) =>
        Effect.map(real.modify(key, step), (answer) =>
          typeof answer === "object" ? JSON.parse(JSON.stringify(answer)) : answer
        )
    })
  ),
  port(
    "limits-store.answer-run",
    "Runs an answer that is an effect.",
    "limits-store.modify.answer",
    "limits-store.answer",
    "a defect: Error: an answer",
    (real) => ({
      modify: (key, step) =>
        Effect.flatMap(real.modify(key, step), (answer) =>
          // Whatever it is an effect of: that is the fault.
          Effect.isEffect(answer) ? Effect.orDie(answer as Effect.Effect<never>) : Effect.succeed(answer)
        )
    })
  ),

  // keys
  port(
    "limits-store.keys-case",
    "Compares keys without regard to case.",
    "limits-store.modify.keys-apart",
    "limits-store.keys-apart",
    "no state {level",
    keyed((key) => key.toLowerCase())
  ),
  port(
    "limits-store.keys-trimmed",
    "Compares keys without spaces at their end.",
    "limits-store.modify.keys-apart",
    "limits-store.keys-apart",
    "no state {level",
    keyed((key) => key.replace(/ +$/, ""))
  ),
  port(
    "limits-store.keys-normalised",
    "Compares keys in Unicode's composed form.",
    "limits-store.modify.keys-apart",
    "limits-store.keys-apart",
    "no state {level",
    keyed((key) => key.normalize("NFC"))
  ),
  port(
    "limits-store.keys-cut",
    "Compares the first 64 characters of keys.",
    "limits-store.modify.keys-apart",
    "limits-store.keys-apart",
    "no state {level",
    keyed((key) => key.slice(0, 64))
  ),
  port(
    "limits-store.keys-latin",
    "Replaces characters beyond one byte in keys by a question mark.",
    "limits-store.modify.keys-apart",
    "limits-store.keys-apart",
    "no state {level",
    keyed((key) => key.replace(/[^\0-\xff]/gu, "?"))
  ),

  // atomicity
  port(
    "limits-store.raced",
    "Reads a state, gives way, and writes the next.",
    "limits-store.modify.atomic",
    "limits-store.at-once",
    "different states seen 1",
    readThenWrite(Effect.yieldNow)
  ),
  port(
    "limits-store.raced-in-parallel",
    "Reads a state, gives way, and writes the next: answers that no order explains.",
    "limits-store.linearizable",
    "limits-store.parallel",
    "explains none for",
    readThenWrite(Effect.yieldNow)
  ),
  port(
    "limits-store.raced-closely",
    "Reads a state and writes the next in a second step, without giving way between.",
    "limits-store.linearizable",
    "limits-store.interleaved",
    "explains none for",
    readThenWrite(Effect.void)
  ),
  port(
    "limits-store.one-of-a-group",
    "Of steps on one key that wait together all see the same state.",
    "limits-store.modify.atomic",
    "limits-store.at-once",
    "different states seen 1",
    (real) => {
      const group = new Map<string, RateLimit.State | undefined>()
      return {
        modify: (key, step) =>
          Effect.gen(function* () {
            const answer = yield* real.modify(key, (state) => {
              if (!group.has(key)) group.set(key, state)
              return step(group.get(key))
            })
            yield* Effect.yieldNow
            group.delete(key)
            return answer
          })
      }
    }
  ),

  // steps that throw
  port(
    "limits-store.throwing-step-resets",
    "Stores a blank state when a step throws.",
    "limits-store.modify.throwing-step",
    "limits-store.throwing-step",
    "no state {level 60000}",
    catching((real, key, defect) =>
      Effect.andThen(
        real.modify(key, () => [undefined, blank]),
        Effect.die(defect)
      )
    )
  ),
  port(
    "limits-store.throwing-step-answered",
    "Answers with nothing when a step throws.",
    "limits-store.modify.throwing-step",
    "limits-store.throwing-step",
    'an error on "a" an answer',
    // No answer that the caller could have asked for: that is the fault.
    catching(() => Effect.void as Effect.Effect<never>)
  ),
  port(
    "limits-store.throwing-step-locked",
    "Keeps its lock when a step throws.",
    "limits-store.modify.throwing-step",
    "limits-store.throwing-step",
    "database is locked",
    (real) => {
      const guarded = LeakyLock.make()
      return { modify: (key, step) => guarded(real.modify(key, step)) }
    }
  ),
  port(
    "limits-store.throwing-step-shared",
    "Takes back what was counted at the same time as a step that throws.",
    "limits-store.modify.throwing-step",
    "limits-store.throwing-step",
    "counted by the others 4",
    (real) => {
      const before = new Map<string, RateLimit.State>()
      return {
        modify: (key, step) =>
          Effect.gen(function* () {
            const answer = yield* real.modify(key, (state) => {
              if (state !== undefined && !before.has(key)) before.set(key, state)
              return step(state)
            })
            yield* Effect.yieldNow
            before.delete(key)
            return answer
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
    }
  ),

  // forgetting
  port(
    "limits-store.forgets-many",
    "Keeps the states of 1 000 keys, and forgets the oldest.",
    "limits-store.kept",
    "limits-store.kept-in-a-crowd",
    "bannedUntil 9007199254740991} no state",
    () => {
      const states = new Map<string, RateLimit.State>()
      return {
        modify: (key, step) =>
          Effect.sync(() => {
            const [answer, after] = step(states.get(key))
            states.delete(key)
            states.set(key, after)
            const [oldest] = states.keys()
            if (states.size > 1_000 && oldest !== undefined) states.delete(oldest)
            return answer
          })
      }
    }
  ),
  port(
    "limits-store.forgets-bans",
    "Forgets a state once its bucket is full again, though its day, its ban or its retry time still count.",
    "limits-store.kept",
    "limits-store.kept-in-a-crowd",
    "used 3} no state",
    (real) => ({
      modify: (key, step) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          real.modify(key, (state) =>
            step(state !== undefined && state.at + 60_000 > now ? state : undefined)
          )
        )
    })
  ),

  // interruption
  port(
    "limits-store.interrupted-half",
    "Writes a state in two steps: who is interrupted between them leaves it without its ban.",
    "limits-store.interruption",
    "limits-store.interrupted",
    "the other numbers as they were",
    () => {
      const states = new Map<string, RateLimit.State>()
      return {
        modify: (key, step) =>
          Effect.gen(function* () {
            const [answer, after] = step(states.get(key))
            states.set(key, { ...after, bannedUntil: 0 })
            yield* Effect.yieldNow
            states.set(key, { ...(states.get(key) ?? after), bannedUntil: after.bannedUntil })
            return answer
          })
      }
    }
  ),
  port(
    "limits-store.interrupted-locked",
    "Keeps its lock when a modify is interrupted.",
    "limits-store.interruption",
    "limits-store.interrupted",
    "database is locked",
    (real) => {
      const guarded = LeakyLock.make()
      return { modify: (key, step) => guarded(real.modify(key, step)) }
    }
  ),
  port(
    "limits-store.interrupted-rolled-back",
    "Puts back the state that was there before an interrupted modify, over what others stored since.",
    "limits-store.interruption",
    "limits-store.interrupted",
    "interrupted ones ",
    (real) => ({
      modify: (key, step) =>
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
    })
  ),

  // consume
  port(
    "limits-store.consume-remaining",
    "Tells the rest before the request.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "limit 1, remaining 1",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      return [{ ...verdict, remaining: verdict.remaining + 1 }, after]
    })
  ),
  port(
    "limits-store.consume-never-bans",
    "Does not know of bans.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "limited, limit 1",
    consuming((state, now, policy) => RateLimit.step(state, now, { ...policy, ban: undefined }))
  ),
  port(
    "limits-store.consume-bans-all",
    "Bans callers who cannot be banned.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "debt 2, strikes 1, strikesFrom",
    consuming((state, now, { ban = BanPolicy.standard, plan }) => RateLimit.step(state, now, { plan, ban }))
  ),
  port(
    "limits-store.consume-rounds",
    "Rounds the level of the bucket to whole requests.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "{at 5364662388655",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      return [verdict, { ...after, level: Math.floor(after.level / 60_000) * 60_000 }]
    })
  ),
  port(
    "limits-store.consume-denied-costs",
    "Takes denied requests from the day.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "used 2, debt 1",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      return [verdict, verdict.outcome === "limited" ? { ...after, used: after.used + 1 } : after]
    })
  ),
  port(
    "limits-store.consume-goes-back",
    "Lets the time of a state go back with the clock.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "level 6, at 5364662400001",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      return [verdict, verdict.outcome === "banned" ? after : { ...after, at: now }]
    })
  ),
  port(
    "limits-store.consume-local-day",
    "Begins the day an hour early.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "day 62091, used 1}",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      return [verdict, { ...after, day: Math.max(after.day, Math.floor((now + 3_600_000) / 86_400_000)) }]
    })
  ),
  port(
    "limits-store.consume-last-ban",
    "Starts again with the first ban after the longest.",
    "limits-store.consume.equal",
    "limits-store.counts",
    "strikeAt 5364666175655, bannedUntil",
    consuming((state, now, policy) => {
      const [verdict, after] = RateLimit.step(state, now, policy)
      const isLongest = after.banLevel > 0 && after.banLevel === state?.banLevel && after.strikeAt === now
      return [verdict, isLongest && after.strikes === 0 ? { ...after, banLevel: 0 } : after]
    })
  ),
  port(
    "limits-store.consume-in-seconds",
    "Makes its step at the beginning of the second.",
    "limits-store.consume.clock",
    "limits-store.counts",
    "reset at 5364662447",
    consuming((state, now, policy) => RateLimit.step(state, Math.floor(now / 1_000) * 1_000, policy))
  ),
  port(
    "limits-store.consume-raced",
    "Reads a state for `consume`, gives way, and writes the next.",
    "limits-store.consume.atomic",
    "limits-store.counts-at-once",
    "50 admitted 60",
    (real) => ({
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
    })
  ),

  // outage
  port(
    "limits-store.outage-open",
    "Admits every request when its backend does not answer.",
    "limits-store.fails-typed",
    "limits-store.outage",
    "as if nothing were wrong",
    (real) => ({
      modify: (key, step) => Effect.catch(real.modify(key, step), () => Effect.sync(() => step(undefined)[0]))
    })
  ),
  port(
    "limits-store.outage-dies",
    "Dies when its backend does not answer.",
    "limits-store.fails-typed",
    "limits-store.outage",
    "a defect: StoreUnavailable",
    (real) => ({ modify: (key, step) => Effect.orDie(real.modify(key, step)) })
  ),
  port(
    "limits-store.outage-step-tried",
    "Tries the step on no state before it asks its backend.",
    "limits-store.fails-typed",
    "limits-store.outage",
    "a defect: Error: a bug in",
    (real) => ({
      modify: (key, step) =>
        Effect.suspend(() => {
          step(undefined)
          return real.modify(key, step)
        })
    })
  )
]
