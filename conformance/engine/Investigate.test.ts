import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Failure, inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import * as Case from "./Case.ts"
import * as ReplayToken from "./ReplayToken.ts"
import * as Toys from "./Toys.fixture.ts"

const violate = (actual = "no"): Effect.Effect<never, Failure> =>
  Effect.fail(new Violation({ expected: "yes", actual }))

describe("Investigate.investigate", () => {
  it("tries the examples first, in order, and then the given number of random cases", async () => {
    const tried: Array<number> = []
    const toy = Toys.check<number>({
      examples: [-1, -2, -3],
      cases: fc.nat(),
      runs: { port: 7, http: 2 },
      holds: (_face, given) => Effect.sync(() => void tried.push(given))
    })
    const result = await Toys.investigate(toy)
    expect(tried.slice(0, 3)).toEqual([-1, -2, -3])
    expect(tried.slice(3).every((given) => given >= 0)).toBe(true)
    expect(result).toMatchObject({
      status: "pass",
      reason: undefined,
      counterexample: undefined,
      runs: { planned: 10, executed: 10, decided: 10 }
    })
    tried.length = 0
    await Toys.investigate(toy, { on: Toys.subject({ kind: "http" }) })
    expect(tried).toHaveLength(5)
    tried.length = 0
    await Toys.investigate(toy, { effort: 4 / 7 })
    expect(tried).toHaveLength(7)
  })

  it("tries 100 random cases for a port and 12 over HTTP by default", async () => {
    const toy = Toys.check<number>({ cases: fc.nat(), holds: () => Effect.void })
    expect((await Toys.investigate(toy)).runs.executed).toBe(100)
    const http = await Toys.investigate(toy, { on: Toys.subject({ kind: "http" }) })
    expect(http.runs.executed).toBe(12)
  })

  it("tries at least one random case, even if the effort is almost 0", async () => {
    const toy = Toys.check<number>({ examples: [1], cases: fc.nat(), holds: () => violate() })
    expect((await Toys.investigate(toy, { effort: 0.001 })).status).toBe("fail")
    const correct = Toys.check<number>({ examples: [1], cases: fc.nat(), holds: () => Effect.void })
    expect((await Toys.investigate(correct, { effort: 0.001 })).status).toBe("pass")
  })

  it("stops at the first failing example, and does not shrink the example", async () => {
    const tried: Array<number> = []
    const toy = Toys.check<number>({
      examples: [1, 5_000, 3],
      cases: fc.nat(),
      holds: (_face, given, trial) =>
        Effect.suspend(() => {
          tried.push(given)
          trial.record({ did: `tried ${given}`, got: "something" })
          return given === 5_000 ? violate(`no at ${given}`) : Effect.void
        })
    })
    const { counterexample, reason, status } = await Toys.investigate(toy)
    expect(tried).toEqual([1, 5_000, 5_000, 5_000, 5_000])
    expect(status).toBe("fail")
    expect(reason).toBe("expected yes, got no at 5000")
    expect(counterexample).toMatchObject({
      expected: "yes",
      actual: "no at 5000",
      case: "5000",
      steps: [{ did: "tried 5000", got: "something" }],
      reproduced: { times: 3, of: 3 },
      found: { runs: 0, shrinks: 0 },
      script: undefined
    })
  })

  it("shrinks a failing random case, and shows the steps of the smallest failing case", async () => {
    const toy = Toys.check<ReadonlyArray<number>>({
      cases: fc.array(fc.nat({ max: 1_000 }), { maxLength: 30 }),
      runs: { port: 500, http: 500 },
      holds: (_face, given, trial) => {
        trial.record({ did: `tried ${given.join(" ")}`, got: "" })
        return given.some((number) => number >= 17) ? violate(String(given)) : Effect.void
      }
    })
    const { counterexample, status } = await Toys.investigate(toy)
    expect(status).toBe("fail")
    expect(counterexample).toMatchObject({
      case: "[17]",
      actual: "17",
      steps: [{ did: "tried 17", got: "" }],
      reproduced: { times: 3, of: 3 }
    })
    expect(counterexample?.found.runs).toBeGreaterThan(0)
    expect(counterexample?.found.shrinks).toBeGreaterThan(0)
  })

  it("returns a replay token that contains the failing case", async () => {
    const given = { big: 2n ** 63n - 1n, none: undefined, raw: new Uint8Array([0, 255]) }
    const toy = Toys.check<typeof given>({
      id: "toy.token",
      examples: [given],
      holds: (_face, { big }) => (big === given.big ? violate() : Effect.void)
    })
    const { counterexample } = await Toys.investigate(toy)
    const token = Effect.runSync(Effect.fromResult(ReplayToken.decode(counterexample?.token ?? "")))
    expect(token.check).toBe("toy.token")
    expect(Case.decode(token.case)).toEqual(given)
  })

  it("gets a script of the failing case from the subject", async () => {
    const toy = Toys.check<number>({
      examples: [4],
      holds: (_face, _given, trial) => {
        trial.record({ did: "tried", got: "nothing" })
        return violate()
      }
    })
    const { counterexample } = await Toys.investigate(toy, {
      on: Toys.subject({
        script: ({ actual, check, expected, law, steps }) =>
          [check, law, expected, actual, ...steps.map(({ did }) => did)].join("|")
      })
    })
    expect(counterexample?.script).toBe("toy.check|the toy holds|yes|no|tried")
  })

  it("opens the interface for each evaluation and closes it afterwards", async () => {
    let open = 0
    let opened = 0
    const base = Toys.subject()
    const toy = Toys.check<number>({
      examples: [1, 2, 3],
      holds: () => Effect.suspend(() => (open === 1 ? violate() : Effect.die(new Error(`${open} open`))))
    })
    const { status } = await Toys.investigate(toy, {
      on: {
        ...base,
        interfaces: {
          catalogue: (trial) =>
            Effect.andThen(
              Effect.acquireRelease(
                Effect.sync(() => {
                  open++
                  opened++
                }),
                () => Effect.sync(() => open--)
              ),
              base.interfaces.catalogue?.(trial) ?? Effect.never
            )
        }
      }
    })
    expect({ status, open, opened }).toEqual({ status: "fail", open: 0, opened: 4 })
  })

  it("counts only the requests that were sent during the investigation", async () => {
    const exchanges: Array<never> = []
    const toy = Toys.check<number>({
      examples: [1, 2],
      // Only the number of exchanges matters here.
      holds: () => Effect.sync(() => void exchanges.push(undefined as never))
    })
    exchanges.push(undefined as never)
    expect((await Toys.investigate(toy, { on: Toys.subject({ exchanges }) })).requests).toBe(2)
  })

  it("returns inconclusive for a check without cases", async () => {
    const toy = Toys.check({ holds: () => Effect.void })
    expect(await Toys.investigate(toy)).toMatchObject({
      status: "inconclusive",
      reason: "no case was tried"
    })
  })

  it("returns inconclusive if the subject lacks the interface of the check", async () => {
    const toy = Toys.check<number>({ examples: [1], holds: () => Effect.void })
    expect(await Toys.investigate(toy, { on: Toys.subject({ interfaces: {} }) })).toMatchObject({
      status: "inconclusive",
      reason: "the subject has no catalogue"
    })
  })
})

describe("an intermittent failure", () => {
  it("fails the check, and the counterexample shows the number of repetitions that failed", async () => {
    for (const times of [0, 1, 2, 3]) {
      let tries = 0
      const toy = Toys.check<number>({
        examples: [1],
        holds: (_face, _given, trial) =>
          Effect.suspend(() => {
            trial.record({ did: `try ${tries}`, got: "" })
            return tries++ <= times ? violate(`no at try ${tries}`) : Effect.void
          })
      })
      const { counterexample, status } = await Toys.investigate(toy)
      expect(status).toBe("fail")
      expect(counterexample?.reproduced).toEqual({ times, of: 3 })
      // The counterexample is one evaluation, so its steps and its result match.
      expect(counterexample?.steps).toEqual([{ did: `try ${times}`, got: "" }])
      expect(counterexample?.actual).toBe(`no at try ${times + 1}`)
    }
  })

  it("fails the check even if all repetitions are undecided or end with an error of the suite", async () => {
    let tries = 0
    const inconclusive = Toys.check<number>({
      examples: [1],
      holds: () => Effect.suspend(() => (tries++ === 0 ? violate() : undecided("no idea")))
    })
    expect(await Toys.investigate(inconclusive)).toMatchObject({
      status: "fail",
      counterexample: { expected: "yes", actual: "no", reproduced: { times: 0, of: 3 } }
    })
    tries = 0
    const erring = Toys.check<number>({
      examples: [1],
      holds: () => Effect.suspend(() => (tries++ === 0 ? violate() : Effect.die(new Error("oops"))))
    })
    expect((await Toys.investigate(erring)).status).toBe("fail")
  })
})

describe("undecided cases", () => {
  it("make a check inconclusive, with the reason of the first case, if no case was decided", async () => {
    const toy = Toys.check<number>({
      examples: [1, 2],
      cases: fc.constant(3),
      holds: (_face, given) => undecided(`no idea of ${given}`)
    })
    expect(await Toys.investigate(toy)).toMatchObject({
      status: "inconclusive",
      reason: "no idea of 1",
      runs: { planned: 102, executed: 102, decided: 0 }
    })
  })

  it("make a check inconclusive if one of them is a boundary example, even if other cases were decided", async () => {
    const toy = Toys.check<number>({
      examples: [1, 2],
      holds: (_face, given) => (given === 1 ? undecided("no idea") : Effect.void)
    })
    expect(await Toys.investigate(toy)).toMatchObject({
      status: "inconclusive",
      reason: "no idea",
      runs: { planned: 2, executed: 2, decided: 1 }
    })
  })

  it("allow a pass if at most half of the random cases are undecided", async () => {
    const undecidedInTenths = (tenths: number) => {
      let tries = 0
      return Toys.check<number>({
        cases: fc.nat(),
        holds: () => Effect.suspend(() => (tries++ % 10 < tenths ? undecided("no idea") : Effect.void))
      })
    }
    expect((await Toys.investigate(undecidedInTenths(5))).status).toBe("pass")
    expect(await Toys.investigate(undecidedInTenths(6))).toMatchObject({
      status: "inconclusive",
      reason: "only 40 of 100 random cases could be decided: no idea"
    })
  })

  it("allow a failure in a later case", async () => {
    const toy = Toys.check<number>({
      examples: [1, 2],
      holds: (_face, given) => (given === 1 ? undecided("no idea") : violate())
    })
    expect((await Toys.investigate(toy)).status).toBe("fail")
  })
})

describe("a check that requires circumstances (`mustSee`)", () => {
  const needing = (circumstancesOf: (given: number) => ReadonlyArray<string>) =>
    Toys.check<number>({
      examples: [1, 2],
      mustSee: ["a full page", "a sold animal"],
      holds: (_face, given, trial) =>
        Effect.sync(() => {
          for (const circumstance of circumstancesOf(given)) trial.saw(circumstance)
        })
    })

  it("passes if each circumstance occurred in at least one evaluation", async () => {
    const toy = needing((given) => (given === 1 ? ["a full page"] : ["a sold animal", "more"]))
    expect((await Toys.investigate(toy)).status).toBe("pass")
  })

  it("is inconclusive if a circumstance never occurred, and the reason names the circumstance", async () => {
    expect(await Toys.investigate(needing(() => ["a full page"]))).toMatchObject({
      status: "inconclusive",
      reason: "this never occurred: a sold animal"
    })
    expect((await Toys.investigate(needing(() => []))).reason).toBe(
      "this never occurred: a full page, a sold animal"
    )
  })

  it("fails if the law is violated, even if no circumstance occurred", async () => {
    const toy = Toys.check<number>({ examples: [1], mustSee: ["x"], holds: () => violate() })
    expect((await Toys.investigate(toy)).status).toBe("fail")
  })
})

describe("a law that does not apply to the subject", () => {
  it("makes the check not applicable, and is not evaluated on random cases", async () => {
    let tries = 0
    const toy = Toys.check<number>({
      examples: [1, 2],
      cases: fc.nat(),
      holds: () =>
        Effect.suspend(() => {
          tries++
          return inapplicable("it never bans")
        })
    })
    expect(await Toys.investigate(toy)).toMatchObject({
      status: "not-applicable",
      reason: "it never bans",
      runs: { decided: 0 }
    })
    expect(tries).toBe(2)
  })
})

describe("Investigate.investigate after an error of the suite", () => {
  const errors: ReadonlyArray<readonly [string, () => Effect.Effect<void>]> = [
    ["a defect", () => Effect.die(new Error("oops"))],
    [
      "an exception when the law is called",
      () => {
        throw new Error("oops")
      }
    ],
    [
      "an exception in the effect of the law",
      () =>
        Effect.map(Effect.void, () => {
          throw new Error("oops")
        })
    ],
    ["a rejected promise", () => Effect.promise(() => Promise.reject(new Error("oops")))]
  ]
  it.each(errors)("returns the status error with the reason for %s in an example", async (_what, holds) => {
    const { counterexample, reason, status } = await Toys.investigate(
      Toys.check<number>({ examples: [1], holds })
    )
    expect(status).toBe("error")
    expect(reason).toContain("oops")
    expect(counterexample).toBeUndefined()
  })

  it.each(errors)(
    "returns the status error with the reason for %s in a random case",
    async (_what, holds) => {
      const { reason, status } = await Toys.investigate(
        Toys.check<number>({
          examples: [1],
          cases: fc.integer({ min: 2, max: 100 }),
          holds: (_face, given) => (given === 1 ? Effect.void : holds())
        })
      )
      expect(status).toBe("error")
      expect(reason).toContain("oops")
    }
  )

  it("returns the status error even if other cases were decided", async () => {
    let tries = 0
    const toy = Toys.check<number>({
      cases: fc.nat(),
      holds: () => Effect.suspend(() => (tries++ === 50 ? Effect.die(new Error("oops")) : Effect.void))
    })
    expect((await Toys.investigate(toy)).status).toBe("error")
  })

  it("returns the status error if the subject cannot be opened because of a defect", async () => {
    const toy = Toys.check<number>({ examples: [1], holds: () => Effect.void })
    const on = Toys.subject({ interfaces: { catalogue: () => Effect.die(new Error("oops")) } })
    expect((await Toys.investigate(toy, { on })).status).toBe("error")
  })

  it("returns the status error if the generator of cases throws", async () => {
    const toy = Toys.check<number>({
      examples: [1],
      cases: fc.nat().map((): number => {
        throw new Error("oops")
      }),
      holds: () => Effect.void
    })
    const { reason, status } = await Toys.investigate(toy)
    expect(status).toBe("error")
    expect(reason).toContain("oops")
  })
})
