import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it, vi } from "vitest"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import * as ReplayText from "../reports/ReplayText.ts"
import * as Case from "./Case.ts"
import * as Replay from "./Replay.ts"
import * as Toys from "./Toys.fixture.ts"

// A replay finds its check in this list; each test fills it with toy checks.
const registry = vi.hoisted((): { checks: Array<Check>; ambientChecks: Array<AmbientCheck> } => ({
  checks: [],
  ambientChecks: []
}))
vi.mock("../checks/Checks.ts", () => registry)

beforeEach(() => {
  registry.checks.length = 0
})

const replay = async (given: unknown, subject = Toys.subject(), text = Case.encode(given)) => {
  const token = { check: "toy.check", case: text }
  const replayed = await Effect.runPromise(Replay.replay(subject, token))
  return { outcome: replayed.outcome, lines: ReplayText.lines(token, replayed) }
}

const addCheck = (holds: Parameters<typeof Toys.check<unknown>>[0]["holds"], rest = {}) =>
  registry.checks.push(Toys.check<unknown>({ ...rest, holds }))

describe("Replay.replay", () => {
  it("returns `fixed` if the law holds in all three tries", async () => {
    const tried: Array<unknown> = []
    addCheck((_face, given, trial) =>
      Effect.sync(() => {
        tried.push(given)
        trial.record({ did: "GET /pets", got: "200 []" })
        trial.record({ did: "let 1 s pass", got: "" })
      })
    )
    const given = { id: 9_007_199_254_740_993n, status: undefined, raw: new Uint8Array([255]) }
    expect(await replay(given)).toEqual({
      outcome: "fixed",
      lines: ["FIXED toy.check", "  1. GET /pets → 200 []", "  2. let 1 s pass"]
    })
    expect(tried).toEqual([given, given, given])
  })

  it("returns `failed` with the violation if the law is still violated", async () => {
    addCheck((_face, _given, trial) => {
      trial.record({ did: "GET /pets", got: "500" })
      return Effect.fail(new Violation({ expected: "200", actual: "500" }))
    })
    expect(await replay(1)).toEqual({
      outcome: "failed",
      lines: ["FAILED toy.check: expected 200, got 500", "  1. GET /pets → 500"]
    })
  })

  it("returns `failed` if there is no response before the timeout", async () => {
    addCheck(() => Effect.never, { timeoutMs: 20 })
    expect((await replay(1)).outcome).toBe("failed")
  })

  it.each([
    ["undecided", undecided("no idea"), "CANNOT toy.check: no idea"],
    ["inapplicable", inapplicable("it never bans"), "CANNOT toy.check: it never bans"]
  ] as const)("returns `not-replayable` if the law is %s", async (_what, ending, line) => {
    addCheck(() => ending)
    expect(await replay(1)).toEqual({ outcome: "not-replayable", lines: [line] })
  })

  it("returns `not-replayable` if the law throws, for example because the case belongs to another check", async () => {
    addCheck((_face, given) => Effect.sync(() => void (given as ReadonlyArray<number>).map(Number)))
    const { lines, outcome } = await replay({ not: "an array" })
    expect(outcome).toBe("not-replayable")
    expect(lines[0]).toMatch(/^CANNOT toy\.check: .*map is not a function/)
  })

  it("returns `not-replayable` if the text is not an encoded case", async () => {
    addCheck(() => Effect.void)
    expect((await replay(undefined, Toys.subject(), "nonsense")).outcome).toBe("not-replayable")
    expect((await replay(undefined, Toys.subject(), '{"$int":"five"}')).outcome).toBe("not-replayable")
  })

  it("returns `not-replayable` if the check, its interface or a required capability is missing", async () => {
    expect((await replay(1)).lines[0]).toMatch(/^CANNOT toy\.check: the check toy\.check does not exist/)
    addCheck(() => Effect.void, { needs: ["clock", "tinyPlan"] })
    expect((await replay(1, Toys.subject({ interfaces: {} }))).lines).toEqual([
      "CANNOT toy.check: toy.check is a check of catalogue, which the subject does not have"
    ])
    expect((await replay(1, Toys.subject({ capabilities: new Set(["clock"]) }))).lines).toEqual([
      "CANNOT toy.check: toy.check needs tinyPlan"
    ])
    const capable = Toys.subject({ capabilities: new Set(["clock", "tinyPlan"]) })
    expect((await replay(1, capable)).outcome).toBe("fixed")
  })
})
