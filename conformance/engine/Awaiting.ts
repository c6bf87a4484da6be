/** Waits for a server that is still starting. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import { failSetup, SetupError } from "./SetupError.ts"

/** Delay between two tries, in milliseconds. */
const INTERVAL_MS = 200

/** Statuses that a server, or a proxy in front of it, returns while the server is not ready. */
const notReady: ReadonlyArray<number> = [502, 503, 504]

/**
 * Waits until the server returns a status that is not in `notReady`, and until its clock, if it has one, responds.
 * Fails after `ms` milliseconds.
 */
export const server = Effect.fnUntraced(function* (
  { basePath, baseUrl, clock, keys, name, transport }: HttpTarget,
  ms: number
): Effect.fn.Return<void, SetupError> {
  const startedAt = yield* Clock.currentTimeMillis
  const request = {
    method: "GET",
    target: `${basePath}/pets?limit=1`,
    headers: [["Authorization", `Bearer ${keys.main}`]],
    body: undefined
  } as const
  const probe = Effect.gen(function* () {
    const { status } = yield* transport(request)
    if (notReady.includes(status)) return yield* failSetup(`it responds with status ${status}`)
    return clock && (yield* clock.now)
  })
  const isTimeLeft = Effect.map(Clock.currentTimeMillis, (now) => now - startedAt < ms)
  yield* Effect.retry(probe, { schedule: Schedule.spaced(INTERVAL_MS), while: () => isTimeLeft }).pipe(
    Effect.mapError(({ reason }) => {
      const subject = baseUrl ?? name
      return new SetupError({ reason: `${subject} is not ready after ${ms / 1_000} s (--wait): ${reason}` })
    })
  )
})
