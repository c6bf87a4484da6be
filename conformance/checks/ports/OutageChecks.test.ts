import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import { evaluate } from "../../engine/Evaluate.ts"
import * as PortSubject from "../../subjects/PortSubject.ts"
import { checks } from "./OutageChecks.ts"

/** Creates a subject with a simulated outage, in which each method of each port runs this effect. */
const subjectOf = (call: Effect.Effect<never, StoreUnavailable>) =>
  PortSubject.make({
    name: "outage",
    outage: Layer.mergeAll(
      Layer.succeed(PetRepository, { insert: () => call, find: () => call, page: () => call }),
      Layer.succeed(RateLimitStore, { modify: () => call, consume: () => call }),
      Layer.succeed(ApiKeyStore, {
        findByHash: () => call,
        insert: () => call,
        insertFirst: () => call,
        update: () => call,
        list: call
      })
    )
  })

const unavailable = Effect.fail(
  new StoreUnavailable({ retryable: true, cause: new Error("connection refused") })
)

/**
 * Evaluates each check on each method while `ms` milliseconds of the test clock pass. Returns one entry for each
 * evaluation: the message of its failure, or `undefined` if it passed.
 */
const messagesWithin = (call: Effect.Effect<never, StoreUnavailable>, ms: number) =>
  Effect.forEach(
    checks.flatMap((check) => check.examples.map((given) => [check, given] as const)),
    ([check, given]) =>
      Effect.gen(function* () {
        const evaluation = yield* Effect.forkChild(evaluate(check, subjectOf(call), given, "t"))
        yield* TestClock.adjust(ms)
        const { failure, suiteError } = yield* Fiber.join(evaluation)
        return suiteError ?? failure?.message
      })
  )

describe("outage checks", () => {
  it.effect("pass when each method fails with StoreUnavailable after 9 s", () =>
    Effect.gen(function* () {
      const messages = yield* messagesWithin(Effect.andThen(Effect.sleep(9_000), unavailable), 9_000)
      expect(new Set(messages)).toEqual(new Set([undefined]))
      expect(messages.length).toBe(13)
    })
  )

  it.effect("fail when a method does not return within 10 s", () =>
    Effect.gen(function* () {
      const messages = yield* messagesWithin(Effect.never, 10_000)
      for (const message of messages)
        expect(message).toContain("expected every response within 10 s, got none after")
    })
  )

  it.effect("fail when a method is interrupted", () =>
    Effect.gen(function* () {
      const messages = yield* messagesWithin(Effect.interrupt, 0)
      for (const message of messages) expect(message).toContain("an interruption")
    })
  )
})
