/**
 * A process for tests, which counts requests from one caller until 100 of them are denied. Its arguments are the address
 * of the store, the caller, the limit per minute and the number of requests in flight. After each admitted request, it
 * prints a line with the number of requests admitted so far.
 */
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Redis from "./Redis.ts"

const [address = "", caller = "", perMinute = "", inFlight = ""] = process.argv.slice(2)
const policy = { plan: { perMinute: Number(perMinute), perDay: 1_000_000 }, ban: undefined }
let [admitted, denied] = [0, 0]

const program = Effect.gen(function* () {
  const { consume } = yield* RateLimitStore
  if (consume === undefined) throw new Error("the store has no consume")
  const worker = Effect.gen(function* () {
    while (denied < 100) {
      const { outcome } = yield* consume(caller, 0, policy)
      if (outcome === "admitted") writeSync(1, `${++admitted}\n`)
      else denied++
    }
  })
  yield* Effect.forEach(Array.from({ length: Number(inFlight) }), () => worker, {
    concurrency: "unbounded",
    discard: true
  })
})

await Effect.runPromise(
  program.pipe(Effect.provide(Layer.fresh(Redis.layer({ url: Redacted.make(address), timeoutMs: 20_000 }))))
).catch((error: Error) => {
  process.stderr.write(error.message)
  process.exitCode = 1
})
