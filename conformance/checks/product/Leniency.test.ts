/** Tests that the product laws accept correct servers that are slow or whose bans end early. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Run from "../../engine/Run.ts"
import type { Transport, WireResponse } from "../../http/Wire.ts"
import type { Choices } from "../../selftest/plain/Choices.ts"
import * as PlainServer from "../../selftest/plain/PlainServer.ts"
import * as HttpSubject from "../../subjects/HttpSubject.ts"

const keys = {
  main: "main-1Zq8Kd0wYs6tEw2v",
  tiny: { secret: "tiny-7Hc3Lp9aGb5nXr4m", perMinute: 20, perDay: 10_000 },
  victim: { secret: "victim-2Jf6Vt1kUo8zQe3", perMinute: 3, perDay: 10_000 }
}

interface SlowServer {
  readonly only: string
  readonly choices?: Partial<Choices>
  /** The keys whose requests are slow, and how long each takes. */
  readonly slow: { readonly [secret: string]: number }
  readonly edit?: (response: WireResponse) => WireResponse
}

/** Runs one check against a correct server whose responses to a key take time. */
const resultOf = ({ choices = {}, edit = (response) => response, only, slow }: SlowServer) => {
  const begin = Date.UTC(2027, 0, 1, 9)
  /** Milliseconds that requests took, and by which the suite moved the server's clock. */
  let [requestMs, movedMs] = [0, 0]
  const now = () => begin + requestMs + movedMs
  const correct = PlainServer.make({
    keys: [{ secret: keys.main, perMinute: 100_000, perDay: 10_000_000 }, keys.tiny, keys.victim],
    now,
    choices
  })
  const transport: Transport = (request) =>
    Effect.map(correct(request), (response) => {
      const [, value = ""] = request.headers.find(([name]) => name.toLowerCase() === "authorization") ?? []
      requestMs += slow[value.replace("Bearer ", "")] ?? 0
      return edit(response)
    })
  const clock = {
    now: Effect.sync(now),
    advance: (ms: number) =>
      Effect.sync(() => {
        movedMs += ms
        return now()
      })
  }
  const runTime = () => begin + requestMs
  const program = Effect.gen(function* () {
    const subject = yield* HttpSubject.make({
      name: "slow",
      transport,
      basePath: "/v1",
      baseUrl: undefined,
      keys,
      clock,
      budget: { milliseconds: 3_600_000 }
    })
    const report = yield* Run.run(subject, { level: "spec", seed: 1, only: [only] })
    return report.checks.find(({ id }) => id === only)
  })
  return Effect.runPromise(
    Effect.flatMap(Clock.Clock, (real) =>
      Effect.provideService(program, Clock.Clock, {
        currentTimeMillisUnsafe: runTime,
        currentTimeMillis: Effect.sync(runTime),
        currentTimeNanosUnsafe: () => BigInt(runTime()) * 1_000_000n,
        currentTimeNanos: Effect.sync(() => BigInt(runTime()) * 1_000_000n),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) => real.sleep(duration)
      })
    )
  )
}

describe("product.counted", () => {
  it.each([
    ["clock window", 0, "pass"],
    ["clock window", 1_500, "pass"],
    ["clock window", 2_900, "pass"],
    ["token bucket", 1_500, "pass"],
    ["token bucket", 2_900, "not-applicable"],
    ["token bucket", 3_500, "not-applicable"]
  ] as const)("for a correct %s whose responses take %i ms, reports %s", async (minute, ms, status) => {
    const slow = { [keys.tiny.secret]: ms }
    const result = await resultOf({ only: "product.counted", choices: { minute }, slow })
    expect({ status: result?.status, found: result?.counterexample?.actual }).toEqual({ status })
  })
})

describe("product.ban", () => {
  it("accepts a server that takes 1.5 s per request and lifts a ban before the announced time", async () => {
    const result = await resultOf({
      only: "product.ban",
      choices: { ban: { after: 3, seconds: 3, status: 403 } },
      slow: { [keys.victim.secret]: 1_500 },
      edit: (response) =>
        response.status === 403
          ? {
              ...response,
              headers: response.headers.map(([name, value]) => [name, name === "Retry-After" ? "60" : value])
            }
          : response
    })
    expect({ status: result?.status, found: result?.counterexample?.actual }).toEqual({ status: "pass" })
  })
})
