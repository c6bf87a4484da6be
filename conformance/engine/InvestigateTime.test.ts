import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Toys from "./Toys.fixture.ts"

describe("an evaluation that never ends", () => {
  it("fails the check after the timeout, and the counterexample names the last step", async () => {
    const toy = Toys.check<number>({
      examples: [1],
      timeoutMs: 50,
      holds: (_face, _given, trial) => {
        trial.record({ did: "GET /pets", got: "200" })
        return Effect.never
      }
    })
    const { counterexample, status } = await Toys.investigate(toy)
    expect(status).toBe("fail")
    expect(counterexample).toMatchObject({
      expected: "every response within 0.05 s",
      actual: "none after GET /pets",
      reproduced: { times: 3, of: 3 }
    })
  })

  it("is interrupted after the timeout, in the first try and in each repetition", async () => {
    let interruptions = 0
    const toy = Toys.check<number>({
      examples: [1],
      timeoutMs: 20,
      holds: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interruptions++))
    })
    await Toys.investigate(toy)
    expect(interruptions).toBe(4)
  })

  it("fails the check even if it is the opening of the subject that never ends", async () => {
    const toy = Toys.check<number>({ examples: [1], timeoutMs: 50, holds: () => Effect.void })
    const on = Toys.subject({ interfaces: { catalogue: () => Effect.never } })
    expect(await Toys.investigate(toy, { on })).toMatchObject({
      status: "fail",
      counterexample: { actual: "none after opening the subject" }
    })
  })

  it("fails the check even if the law cannot be interrupted or the subject never closes", async () => {
    const stubborn = Toys.check<number>({
      examples: [1],
      timeoutMs: 50,
      holds: () => Effect.uninterruptible(Effect.never)
    })
    expect((await Toys.investigate(stubborn)).status).toBe("fail")
    const toy = Toys.check<number>({ examples: [1], timeoutMs: 50, holds: () => Effect.void })
    const base = Toys.subject()
    const on = {
      ...base,
      interfaces: {
        catalogue: (trial) =>
          Effect.andThen(
            Effect.acquireRelease(Effect.void, () => Effect.never),
            base.interfaces.catalogue?.(trial) ?? Effect.never
          )
      }
    } satisfies typeof base
    expect((await Toys.investigate(toy, { on })).status).toBe("fail")
  })
})

describe("the time limit of a check", () => {
  const slow = (ms: number, examples: ReadonlyArray<number> = []) =>
    Toys.check<number>({ examples, cases: fc.nat(), holds: () => Effect.sleep(ms) })

  it("makes the check inconclusive if too few cases were tried", async () => {
    const { reason, runs, status } = await Toys.investigate(slow(20, [1]), { timeLimitMs: 100 })
    expect(status).toBe("inconclusive")
    expect(runs.executed).toBeLessThan(26)
    expect(reason).toMatch(/^only [0-9]+ of 100 random cases could be decided: time ran out$/)
  })

  it("makes the check inconclusive if it expires during the first case", async () => {
    for (const timeLimitMs of [0, 1]) {
      const { runs, status } = await Toys.investigate(slow(50), { timeLimitMs })
      expect(status).toBe("inconclusive")
      expect(runs.decided).toBeLessThanOrEqual(1)
    }
  })

  it("does not stop the examples", async () => {
    const { runs, status } = await Toys.investigate(
      Toys.check<number>({ examples: [1, 2, 3], holds: () => Effect.sleep(5) }),
      { timeLimitMs: 0 }
    )
    expect({ status, executed: runs.executed }).toEqual({ status: "pass", executed: 3 })
  })

  it("leaves no evaluation running, because its requests could affect the next check", async () => {
    let running = 0
    const toy = Toys.check<number>({
      cases: fc.nat(),
      holds: () =>
        Effect.acquireUseRelease(
          Effect.sync(() => running++),
          () => Effect.sleep(60),
          () => Effect.sync(() => running--)
        )
    })
    await Toys.investigate(toy, { timeLimitMs: 90 })
    expect(running).toBe(0)
  })
})

describe("time spent waiting for rate limits", () => {
  it("does not count toward the timeout of an evaluation; all other time does", async () => {
    let waited = 0
    const on = Toys.subject({ waitedMs: () => waited })
    const waiting = Toys.check<number>({
      examples: [1],
      timeoutMs: 60,
      holds: () => {
        // Longer than the sleep takes on a slow machine.
        waited += 60_000
        return Effect.sleep(150)
      }
    })
    expect((await Toys.investigate(waiting, { on })).status).toBe("pass")
    const idle = Toys.check<number>({ examples: [1], timeoutMs: 60, holds: () => Effect.sleep(150) })
    expect((await Toys.investigate(idle, { on })).status).toBe("fail")
  })
})
