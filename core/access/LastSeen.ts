/**
 * Records the day on which each key was last used. A request only notes its key in memory. A second later, a
 * background fiber stores all noted keys with one call; the layer stores the rest when it closes. A failure
 * of the store is logged and affects no request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as DailyQuota from "../limits/DailyQuota.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import type { ApiKey } from "./ApiKey.ts"

/** Notes that a key was used at `now` (epoch milliseconds); never fails or waits. Does nothing by default. */
export const LastSeen = Context.Reference<(key: ApiKey, now: number) => void>(
  "animal-store/core/access/LastSeen",
  { defaultValue: () => () => {} }
)

/** Time for which noted keys are collected before they are stored. */
const PAUSE = "1 second"

/** Maximum number of keys in `waiting` and in `stored`. While `waiting` is full, requests do not note their keys. */
const CAPACITY = 10_000

/** Stores noted days in the store of the context, if that store has `markSeen`. */
export const layer: Layer.Layer<never, never, ApiKeyStore> = Layer.effect(
  LastSeen,
  Effect.gen(function* () {
    const { markSeen } = yield* ApiKeyStore
    if (markSeen === undefined) return () => {}
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    let waiting = new Map<string, number>()
    // The last stored day of each key, because the key record of a request may be cached and have an older day.
    const stored = new Map<string, number>()
    let worker: Fiber.Fiber<void> | undefined
    let isClosed = false

    const store = (ids: ReadonlyArray<string>, day: number) => {
      if (stored.size + ids.length > CAPACITY) stored.clear()
      for (const id of ids) stored.set(id, day)
      return Effect.catchCause(markSeen(ids, day), (cause) => {
        // The next request with each key notes it again.
        for (const id of ids) stored.delete(id)
        return Effect.logWarning("could not store the days on which keys were used", cause)
      })
    }

    const flush = Effect.suspend(() => {
      const noted = [...waiting]
      waiting = new Map()
      return Effect.forEach(
        new Set(noted.map(([, day]) => day)),
        (day) =>
          store(
            noted.flatMap(([id, notedDay]) => (notedDay === day ? [id] : [])),
            day
          ),
        { discard: true }
      )
    })

    const work = Effect.gen(function* () {
      while (waiting.size > 0) {
        yield* Effect.sleep(PAUSE)
        yield* Effect.uninterruptible(flush)
      }
      worker = undefined
    })

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return Effect.andThen(worker === undefined ? Effect.void : Fiber.interrupt(worker), flush)
      })
    )

    return ({ id, lastSeenDay = -1 }: ApiKey, now: number): void => {
      const today = DailyQuota.dayOf(now)
      if (lastSeenDay >= today || stored.get(id) === today) return
      if (isClosed || waiting.size >= CAPACITY) return
      waiting.set(id, today)
      worker ??= runFork(work)
    }
  })
)
