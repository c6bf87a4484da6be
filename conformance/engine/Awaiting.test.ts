import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "vitest"
import { NoResponse, type Transport } from "../http/Wire.ts"
import { wireResponse } from "../http/Wires.fixture.ts"
import * as Awaiting from "./Awaiting.ts"

const connectionRefused = Effect.fail(new NoResponse({ kind: "connection", reason: "connect ECONNREFUSED" }))

/** Waits up to `ms` milliseconds for a server with one step per try; returns any failure and the number of tries. */
const awaitServer = (steps: ReadonlyArray<number | "down">, ms: number) => {
  let tries = 0
  const transport: Transport = () =>
    Effect.suspend(() => {
      const step = steps[Math.min(tries++, steps.length - 1)] ?? "down"
      return step === "down" ? connectionRefused : Effect.succeed(wireResponse(step))
    })
  const target = {
    name: "toy",
    transport,
    basePath: "/v1",
    baseUrl: "http://127.0.0.1:1/v1",
    keys: { main: "k" }
  }
  return Effect.runPromise(
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.match(Awaiting.server(target, ms), {
          onSuccess: () => undefined,
          onFailure: ({ reason }) => reason
        })
      )
      for (let step = 0; step < 60; step++) yield* TestClock.adjust(1_000)
      return { failure: yield* Fiber.join(fiber), tries }
    }).pipe(Effect.provide(TestClock.layer()))
  )
}

describe("Awaiting.server", () => {
  it("returns after the first response with a status other than 502, 503 and 504", async () => {
    expect(await awaitServer([200], 0)).toEqual({ failure: undefined, tries: 1 })
    expect(await awaitServer(["down", "down", 503, 502, 401], 30_000)).toEqual({
      failure: undefined,
      tries: 5
    })
  })

  it("fails after the timeout, with the reason of the last try", async () => {
    expect((await awaitServer(["down"], 0)).failure).toBe(
      "http://127.0.0.1:1/v1 is not ready after 0 s (--wait): connect ECONNREFUSED"
    )
    const { failure, tries } = await awaitServer(["down", 503], 5_000)
    expect(failure).toBe("http://127.0.0.1:1/v1 is not ready after 5 s (--wait): it responds with status 503")
    expect(tries).toBe(26)
  })
})
