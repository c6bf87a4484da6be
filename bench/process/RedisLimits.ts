/**
 * Measures, in its own process, how many requests per second Redis counts for 64 clients. Argument: the address of the
 * Redis server.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Database from "../../adapters/embed/Database.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Callers from "./Callers.ts"
import type { RedisFigures } from "./Process.ts"

const CLIENTS = 64
const CALLERS = 10_000
const WARM_UP_MS = 500
const TIMED_MS = 500

/** Measures the calls per second of clients that each make their calls in sequence. */
const rateOf = Effect.fnUntraced(function* (limits: RateLimitStore["Service"], ms: number) {
  let calls = 0
  const began = performance.now()
  const client = Effect.gen(function* () {
    while (performance.now() < began + ms)
      yield* Callers.consume(limits, Callers.scatteredKey(calls++, CALLERS), Date.now(), Callers.unlimited)
  })
  yield* Effect.all(
    Array.from({ length: CLIENTS }, () => client),
    { concurrency: "unbounded", discard: true }
  )
  return (calls / (performance.now() - began)) * 1000
})

const measured = Effect.gen(function* () {
  const limits = yield* RateLimitStore
  yield* rateOf(limits, WARM_UP_MS)
  return yield* rateOf(limits, TIMED_MS)
})

const store = Result.getOrThrow(
  Database.limits(
    process.argv[2] ?? "",
    OptionTable.defaults<Database.DatabaseOptions>(Database.table),
    "database"
  )
)
const redisPerSecond = await measured.pipe(
  Effect.provide(Layer.provide(store, SecureRandom.layerWebCrypto)),
  Effect.runPromise
)
const figures: RedisFigures = { redisPerSecond }
process.send?.(figures, () => process.exit())
