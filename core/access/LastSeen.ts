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

/** Maximum number of keys in `pendingDays` and `storedDays`. While `pendingDays` is full, requests note no keys. */
const CAPACITY = 10_000

/** Stores noted days in the store of the context, if that store has `markSeen`. */
export const layer: Layer.Layer<never, never, ApiKeyStore> = Layer.effect(
  LastSeen,
  Effect.gen(function* () {
    const keys = yield* ApiKeyStore
    const markSeen = keys.markSeen?.bind(keys)
    if (markSeen === undefined) return () => {}
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    let pendingDays = new Map<string, number>()
    // The last stored day of each key, because the key record of a request may be cached and have an older day.
    const storedDays = new Map<string, number>()
    let worker: Fiber.Fiber<void> | undefined
    let isClosed = false

    const store = (ids: ReadonlyArray<string>, day: number) => {
      if (storedDays.size + ids.length > CAPACITY) storedDays.clear()
      for (const id of ids) storedDays.set(id, day)
      return Effect.catchCause(markSeen(ids, day), (cause) => {
        // The next request with each key notes it again.
        for (const id of ids) storedDays.delete(id)
        return Effect.logWarning("could not store the days on which keys were used", cause)
      })
    }

    const flush = Effect.suspend(() => {
      const notedDays = [...pendingDays]
      pendingDays = new Map()
      return Effect.forEach(
        new Set(notedDays.map(([, day]) => day)),
        (day) =>
          store(
            notedDays.flatMap(([id, notedDay]) => (notedDay === day ? [id] : [])),
            day
          ),
        { discard: true }
      )
    })

    const work = Effect.gen(function* () {
      while (pendingDays.size > 0) {
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
      if (lastSeenDay >= today || storedDays.get(id) === today) return
      if (isClosed || pendingDays.size >= CAPACITY) return
      pendingDays.set(id, today)
      worker ??= runFork(work)
    }
  })
)
