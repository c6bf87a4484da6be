/** Wraps in-memory rate limiters, from this project and from other libraries, in one interface. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { MemoryStore, type Options } from "express-rate-limit"
import { do_not_optimize } from "mitata"
import { RateLimiterMemory } from "rate-limiter-flexible"
import * as Memory from "../../adapters/memory/Memory.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { UNREACHABLE_LIMIT } from "../http/Catalogue.ts"
import * as FiberLoop from "./FiberLoop.ts"

/** A limiter with limits that are never reached. */
export interface Limiter {
  /** Counts one request of each caller, in sequence; returns a promise if the limiter is asynchronous. */
  readonly consume: (callers: ReadonlyArray<string>) => unknown
}

const MINUTE_MS = 60_000

/** Limits that are never reached. */
export const unlimited: RateLimit.Policy = {
  plan: { perMinute: UNREACHABLE_LIMIT, perDay: UNREACHABLE_LIMIT },
  ban: BanPolicy.standard
}

/** Counts one request as the service does. */
export const consume = (
  limits: RateLimitStore["Service"],
  key: string,
  now: number,
  policy: RateLimit.Policy
) => limits.consume?.(key, now, policy) ?? limits.modify(key, (state) => RateLimit.step(state, now, policy))

/** Creates an empty memory store of this project. */
export const memoryStore = (clock: Clock.Clock = Clock.Clock.defaultValue()): RateLimitStore["Service"] =>
  Effect.runSync(Effect.provideService(Effect.provide(RateLimitStore, Memory.layer), Clock.Clock, clock))

/**
 * Creates the limiter of this project: token bucket, daily quota and ban. All requests of one `consume` call run in one
 * fiber.
 */
export const animalStore = (
  clock: Clock.Clock = Clock.Clock.defaultValue(),
  policy: RateLimit.Policy = unlimited
): Limiter => {
  const limits = memoryStore(clock)
  return {
    consume: (callers) => {
      const all = FiberLoop.times(callers.length, (index) =>
        consume(limits, callers[index] ?? "", clock.currentTimeMillisUnsafe(), policy)
      )
      return Effect.runSync(Effect.provideService(all, Clock.Clock, clock))
    }
  }
}

/** Creates a limiter of `rate-limiter-flexible`: a one-minute window, with a timer per caller. */
const rateLimiterFlexible = (): Limiter => {
  const limiter = new RateLimiterMemory({ points: UNREACHABLE_LIMIT, duration: MINUTE_MS / 1000 })
  return {
    consume: async (callers) => {
      for (const caller of callers) do_not_optimize(await limiter.consume(caller))
    }
  }
}

/** Creates the store of `express-rate-limit`: a one-minute window; it only counts, and the middleware decides. */
const expressRateLimit = (): Limiter => {
  const store = new MemoryStore()
  // The type requires all options of the middleware, but the store reads only this one.
  store.init({ windowMs: MINUTE_MS } as Options)
  return {
    consume: async (callers) => {
      for (const caller of callers) do_not_optimize(await store.increment(caller))
    }
  }
}

/** Creates Effect's `RateLimiter` with a one-minute window. All requests of one `consume` call run in one fiber. */
const effectRateLimiter = (): Limiter => {
  const layer = Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory)
  const limiter = Effect.runSync(Effect.provide(RateLimiter.RateLimiter, layer))
  const window = Duration.millis(MINUTE_MS)
  return {
    consume: (callers) =>
      Effect.runSync(
        FiberLoop.times(callers.length, (index) =>
          limiter.consume({
            algorithm: "fixed-window",
            key: callers[index] ?? "",
            limit: UNREACHABLE_LIMIT,
            window
          })
        )
      )
  }
}

/** The limiters of other libraries, by name. */
export const others = {
  "rate-limiter-flexible": rateLimiterFlexible,
  "express-rate-limit": expressRateLimit,
  "effect's RateLimiter": effectRateLimiter
} as const satisfies { readonly [name: string]: () => Limiter }

export type OtherName = keyof typeof others
