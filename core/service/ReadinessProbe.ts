/** Tests the stores for `/readyz`, with calls that write nothing. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import { Readiness } from "../ports/Readiness.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

/**
 * Time for which a result is cached, in nanoseconds: `/readyz` is unauthenticated, and a probe costs about as much as
 * three requests.
 */
const TTL_NANOS = 1_000_000_000n

/** A hash that no key has, and a state key that no caller has. */
const UNKNOWN_HASH = "0".repeat(64)
const UNKNOWN_KEY = "readiness"

/**
 * Creates a probe that reads a page of animals, looks up a key, tests the limits unless requests are admitted without
 * them, and runs the adapter's own check (`Readiness`), concurrently and at most once a second. It fails with the first
 * failure.
 */
export const make = Effect.fnUntraced(function* ({
  onLimitsUnavailable
}: Pick<ServiceOptions, "onLimitsUnavailable">) {
  const limits = yield* RateLimitStore
  const checkLimits = (now: number): Effect.Effect<unknown, StoreUnavailable> =>
    onLimitsUnavailable === "open"
      ? Effect.void
      : (limits.rehearse ?? limits.read?.([UNKNOWN_KEY], now) ?? Effect.void)
  const checkAdapter = yield* Readiness
  const keys = yield* ApiKeyStore
  const pets = yield* PetRepository
  const probe = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.all(
      [
        checkAdapter,
        pets.page({ status: undefined, after: undefined, limit: 1 }),
        keys.findByHash(UNKNOWN_HASH),
        checkLimits(Math.floor(now))
      ],
      { concurrency: "unbounded", discard: true }
    )
  )
  const [cachedProbe, invalidate] = yield* Effect.cachedInvalidateWithTTL(probe, Duration.infinity)
  let probedAt: bigint | undefined

  // Uses the monotonic clock, because the wall clock can be set back.
  return Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
    if (probedAt !== undefined && now - probedAt < TTL_NANOS) return cachedProbe
    probedAt = now
    return Effect.andThen(invalidate, cachedProbe)
  })
})
