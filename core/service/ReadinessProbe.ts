/** Asks the stores what requests ask of them, for `/readyz`. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import { Readiness } from "../ports/Readiness.ts"

/** How long a result holds. Anybody may ask, and asking costs about as much as three requests. */
const TTL_NANOS = 1_000_000_000n

/** The hash of no key. */
const UNKNOWN_HASH = "0".repeat(64)

/**
 * Reads a page of animals, looks up a key, counts a request with `count`, and checks what the adapter checks by itself
 * (`Readiness`), at the same time; once a second at most. Fails with what fails first.
 */
export const make = Effect.fnUntraced(function* (
  count: (now: number) => Effect.Effect<void, StoreUnavailable>
) {
  const adapter = yield* Readiness
  const keys = yield* ApiKeyStore
  const pets = yield* PetRepository
  const probe = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.all(
      [
        adapter,
        pets.page({ status: undefined, after: undefined, limit: 1 }),
        keys.findByHash(UNKNOWN_HASH),
        count(Math.floor(now))
      ],
      { concurrency: "unbounded", discard: true }
    )
  )
  const [latest, invalidate] = yield* Effect.cachedInvalidateWithTTL(probe, Duration.infinity)
  let probedAt: bigint | undefined

  // By the monotonic clock: the time of day may be put back.
  return Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
    if (probedAt !== undefined && now - probedAt < TTL_NANOS) return latest
    probedAt = now
    return Effect.andThen(invalidate, latest)
  })
})
