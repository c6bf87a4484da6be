import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { beforeEach, describe, expect, it, vi } from "vitest"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { clauses } from "../clauses/Clauses.ts"
import { inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import type { Report, Status } from "./Report.ts"
import * as Run from "./Run.ts"
import * as Toys from "./Toys.fixture.ts"

// A run takes its checks from this list; each test fills it with toy checks.
const registry = vi.hoisted((): { checks: Array<Check>; ambientChecks: Array<AmbientCheck> } => ({
  checks: [],
  ambientChecks: []
}))
vi.mock("../checks/Checks.ts", () => registry)

beforeEach(() => {
  registry.checks.length = 0
  registry.ambientChecks.length = 0
})

const run = (options: Partial<Run.RunOptions> = {}, subject = Toys.subject()): Promise<Report> =>
  Effect.runPromise(Run.run(subject, { level: "spec", seed: 1, ...options }))

/** Creates a toy check that ends with this status; for `excluded`, the caller must exclude the check. */
const toyOf = (status: Status, index: number): Check => {
  const common = { id: `toy.${index}`, examples: [1] }
  switch (status) {
    case "pass":
    case "excluded":
      return Toys.check<number>({ ...common, holds: () => Effect.void })
    case "fail":
    case "warn":
      return Toys.check<number>({
        ...common,
        ...(status === "warn" ? { level: "design", advisedBy: "RFC 9110" } : {}),
        holds: () => Effect.fail(new Violation({ expected: "yes", actual: "no" }))
      })
    case "inconclusive":
      return Toys.check<number>({ ...common, holds: () => undecided("no idea") })
    case "not-applicable":
      return Toys.check<number>({ ...common, holds: () => inapplicable("not this one") })
    case "error":
      return Toys.check<number>({ ...common, holds: () => Effect.die(new Error("oops")) })
  }
}

const statuses = ["error", "fail", "inconclusive", "warn", "excluded", "pass", "not-applicable"] as const

const runOf = (drawn: ReadonlyArray<Status>): Promise<Report> => {
  registry.checks.length = 0
  registry.checks.push(...drawn.map(toyOf), toyOf("pass", drawn.length))
  const exclude = drawn.flatMap((status, index) => (status === "excluded" ? [`toy.${index}`] : []))
  return run({ exclude: [...exclude, `toy.${drawn.length}`] })
}

describe("the verdict of a report", () => {
  it("follows from the worst status of the checks, and is conformant only if no check was excluded", async () => {
    const combinations = Array.from({ length: 2 ** statuses.length }, (_, bits) =>
      statuses.filter((_status, index) => (bits >> index) % 2 === 1)
    )
    expect(combinations).toHaveLength(128)
    for (const drawn of combinations) {
      registry.checks.length = 0
      registry.checks.push(...drawn.map(toyOf))
      if (registry.checks.length === 0) registry.checks.push(toyOf("not-applicable", 0))
      const exclude = drawn.flatMap((status, index) => (status === "excluded" ? [`toy.${index}`] : []))
      const { exitCode, verdict } = await run({ exclude })
      const has = (status: Status) => drawn.some((candidate) => candidate === status)
      const isDecided = has("pass") || has("fail") || has("warn") || has("error")
      const expected =
        has("error") || !isDecided
          ? (["error", 2] as const)
          : has("fail")
            ? (["not-conformant", 1] as const)
            : has("inconclusive")
              ? (["inconclusive", 3] as const)
              : has("excluded")
                ? (["selection-passed", 0] as const)
                : (["conformant", 0] as const)
      expect([drawn, verdict, exitCode]).toEqual([drawn, ...expected])
    }
  })

  it("is error if every check is inconclusive, not applicable or excluded", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<Status>("inconclusive", "not-applicable", "excluded")),
        async (drawn) => {
          const report = await runOf(drawn)
          expect(report.counts.executed).toBe(0)
          expect(report).toMatchObject({ verdict: "error", exitCode: 2 })
        }
      ),
      { numRuns: 30 }
    )
  })

  it("is error if there is no check", async () => {
    expect(await run()).toMatchObject({ verdict: "error", exitCode: 2, counts: { planned: 0 } })
  })
})

describe("the checks in a report", () => {
  it("are counted by status, and the counts add up to the number of planned checks", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom<Status>(...statuses), { maxLength: 12 }), async (drawn) => {
        const { checks, counts } = await runOf(drawn)
        // `runOf` adds an excluded check.
        const expected = [...drawn, "excluded" as const]
        expect(checks.map(({ status }) => status)).toEqual(expected)
        for (const status of statuses) {
          expect(counts[status]).toBe(expected.filter((candidate) => candidate === status).length)
        }
        expect(counts.planned).toBe(expected.length)
        expect(statuses.reduce((sum, status) => sum + counts[status], 0)).toBe(counts.planned)
        expect(counts.executed).toBe(counts.pass + counts.fail + counts.warn + counts.error)
      }),
      { numRuns: 60 }
    )
  })

  it("have a reason, except for passed checks", async () => {
    const { checks } = await runOf(statuses)
    for (const { reason, status } of checks) {
      if (status === "pass") expect(reason).toBeUndefined()
      else expect(reason).toMatch(/.{5}/)
    }
  })
})

describe("the clauses of a report", () => {
  it("have the worst status of their checks, or `unchecked` if no check was planned", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            status: fc.constantFrom<Status>(...statuses),
            slugs: fc.subarray(["list.array", "list.empty", "auth.required"] as const, { minLength: 1 })
          }),
          { maxLength: 6 }
        ),
        async (drawn) => {
          registry.checks.length = 0
          registry.checks.push(
            ...drawn.map(({ slugs, status }, index): Check => {
              const [first = "list.array", ...others] = slugs
              return { ...toyOf(status, index), clauses: [first, ...others] }
            }),
            toyOf("pass", drawn.length)
          )
          const exclude = drawn.flatMap(({ status }, index) =>
            status === "excluded" ? [`toy.${index}`] : []
          )
          const report = await run({ exclude: [...exclude, `toy.${drawn.length}`] })
          for (const slug of ["list.empty", "auth.required", "get.found"]) {
            const coveringChecks = drawn.flatMap(({ slugs, status }, index) =>
              slugs.some((candidate) => candidate === slug) ? [{ id: `toy.${index}`, status }] : []
            )
            const clause = report.clauses.find((candidate) => candidate.slug === slug)
            expect(clause?.checks).toEqual(coveringChecks.map(({ id }) => id))
            expect(clause?.status).toBe(
              statuses.find((status) => coveringChecks.some((check) => check.status === status)) ??
                "unchecked"
            )
          }
        }
      ),
      { numRuns: 60 }
    )
  })

  it("are the clauses of the contract at level spec, and all clauses at level design", async () => {
    const spec = clauses.filter(({ level }) => level === "spec").map(({ slug }) => slug)
    expect((await run()).clauses.map(({ slug }) => slug)).toEqual(spec)
    expect((await run({ level: "design" })).clauses.map(({ slug }) => slug)).toEqual(
      clauses.map(({ slug }) => slug)
    )
  })
})

describe("Run.run at a level", () => {
  const violate = () => Effect.fail(new Violation({ expected: "yes", actual: "no" }))
  const addChecks = () =>
    registry.checks.push(
      Toys.check<number>({ id: "toy.spec", examples: [1], holds: () => Effect.void }),
      Toys.check<number>({ id: "toy.design", level: "design", examples: [1], holds: violate }),
      Toys.check<number>({
        id: "toy.advised",
        level: "design",
        advisedBy: "RFC 9110 §9.3.2",
        examples: [1],
        holds: violate
      })
    )

  it("omits decisions of this project at level spec, and reports violations of recommendations as warnings", async () => {
    addChecks()
    const report = await run({ level: "spec" })
    expect(report.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "toy.spec pass",
      "toy.advised warn"
    ])
    expect(report.checks[1]?.counterexample).toMatchObject({ expected: "yes", actual: "no" })
    expect(report).toMatchObject({ verdict: "conformant", exitCode: 0, counts: { planned: 2 } })
  })

  it("includes all checks at level design, and reports every violation as a failure", async () => {
    addChecks()
    const report = await run({ level: "design" })
    expect(report.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "toy.spec pass",
      "toy.design fail",
      "toy.advised fail"
    ])
    expect(report).toMatchObject({ verdict: "not-conformant", exitCode: 1 })
  })

  it("reports a violation of the contract as a failure at level spec", async () => {
    registry.checks.push(Toys.check<number>({ examples: [1], advisedBy: "RFC 9110", holds: violate }))
    expect((await run({ level: "spec" })).verdict).toBe("not-conformant")
  })
})

describe("Run.run", () => {
  it("tries the same cases of a check if other checks are excluded", async () => {
    const tried: Record<string, Array<number>> = {}
    const toys = ["toy.a", "toy.b", "toy.c"].map((id) =>
      Toys.check<number>({
        id,
        cases: fc.nat(),
        runs: { port: 5, http: 5 },
        holds: (_face, given) =>
          Effect.sync(() => {
            tried[id] = [...(tried[id] ?? []), given]
          })
      })
    )
    registry.checks.push(...toys)
    const all = await run({ seed: 7 })
    const before = structuredClone(tried)
    delete tried["toy.b"]
    const alone = await run({ seed: 7, only: ["toy.b"] })
    expect(tried["toy.b"]).toEqual(before["toy.b"])
    expect(all.verdict).toBe("conformant")
    expect(alone).toMatchObject({
      verdict: "selection-passed",
      seed: 7,
      counts: { planned: 3, executed: 1, excluded: 2 }
    })
  })

  it("reports the seed that it chose; a run with this seed tries the same cases", async () => {
    const tried: Array<number> = []
    registry.checks.push(
      Toys.check<number>({
        cases: fc.nat(),
        holds: (_face, given) => Effect.sync(() => void tried.push(given))
      })
    )
    const { seed } = await run({ seed: undefined })
    const first = tried.splice(0)
    expect((await run({ seed: undefined })).seed).not.toBe(seed)
    tried.length = 0
    await run({ seed })
    expect(tried).toEqual(first)
  })

  it("fails for a pattern that matches nothing, before any check runs", async () => {
    let tries = 0
    registry.checks.push(Toys.check<number>({ examples: [1], holds: () => Effect.sync(() => void tries++) }))
    for (const options of [{ only: ["toy.chek"] }, { exclude: ["toy.chek"] }]) {
      const result = await Effect.runPromise(
        Effect.result(Run.run(Toys.subject(), { level: "spec", ...options }))
      )
      expect(Result.isFailure(result) && result.failure).toMatchObject({
        _tag: "UnknownSelection",
        pattern: "toy.chek"
      })
    }
    expect(tries).toBe(0)
  })

  it("gives every evaluation a token that is unique across runs", async () => {
    const seen: Array<string> = []
    registry.checks.push(
      ...["toy.a", "toy.b"].map((id) =>
        Toys.check<number>({
          id,
          examples: [1, 2],
          cases: fc.nat(),
          holds: (_face, _given, trial) =>
            Effect.sync(() => {
              seen.push(trial.token, trial.name(), trial.name("x"))
            })
        })
      )
    )
    await run({ seed: 1 })
    await run({ seed: 1 })
    expect(seen.length).toBe(2 * 2 * 102 * 3)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it("reports its progress for each check, including excluded checks", async () => {
    registry.checks.push(toyOf("pass", 0), toyOf("excluded", 1))
    const reported: Array<Run.Progress> = []
    await run({ exclude: ["toy.1"], onProgress: (progress) => void reported.push(progress) })
    expect(reported).toEqual([
      { index: 0, total: 2, id: "toy.0", requests: 0 },
      { index: 1, total: 2, id: "toy.1", requests: 0 }
    ])
  })

  it("plans no check for another kind of subject", async () => {
    registry.checks.push(toyOf("pass", 0), { ...toyOf("fail", 1), on: "http" })
    registry.ambientChecks.push({
      id: "every.toy",
      law: "nothing is wrong",
      clauses: ["errors.body"],
      level: "spec",
      isAbout: () => true,
      examine: () => undefined
    })
    expect((await run()).checks.map(({ id }) => id)).toEqual(["toy.0"])
    const http = await run({}, Toys.subject({ kind: "http" }))
    expect(http.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "toy.0 pass",
      "every.toy inconclusive"
    ])
    const without = await run({ exclude: ["every.*"] }, Toys.subject({ kind: "http" }))
    expect(without.checks.map(({ status }) => status)).toEqual(["pass", "excluded"])
    expect(without.verdict).toBe("selection-passed")
  })
})
