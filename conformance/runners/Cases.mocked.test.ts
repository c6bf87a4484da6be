import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it, vi } from "vitest"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import * as Toys from "../engine/Toys.fixture.ts"
import { inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import { wireResponse } from "../http/Wires.fixture.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Redaction from "../subjects/Redaction.ts"
import { type CasesOptions, ConformanceError, cases } from "./Cases.ts"

// `cases` reads this list of checks; each test fills it with toy checks.
const registry = vi.hoisted((): { checks: Array<Check>; ambientChecks: Array<AmbientCheck> } => ({
  checks: [],
  ambientChecks: []
}))
vi.mock("../checks/Checks.ts", () => registry)

beforeEach(() => {
  registry.checks.length = 0
  registry.ambientChecks.length = 0
})

/** Runs every case that is not skipped, and returns the outcomes of all cases. */
const outcomes = async (options: CasesOptions = {}, subject = Toys.subject()) => {
  const all: Array<{ readonly name: string; readonly outcome: unknown }> = []
  for (const { name, run, skip } of cases(subject, options)) {
    if (skip !== undefined) all.push({ name, outcome: `skipped: ${skip}` })
    else {
      const outcome = await run().then(
        () => "passed",
        (error: unknown) => error
      )
      all.push({ name, outcome })
    }
  }
  return all
}

const outcomeOf = async (toy: Check, options?: CasesOptions, subject?: Parameters<typeof outcomes>[1]) => {
  registry.checks.length = 0
  registry.checks.push(toy)
  return (await outcomes(options, subject))[0]?.outcome
}

const violate = () => Effect.fail(new Violation({ expected: "yes", actual: "no" }))

describe("cases", () => {
  it("returns cases in run order, each named with its check's id and law", () => {
    registry.checks.push(
      Toys.check({ id: "toy.ban", law: "bans end", profile: "ban", holds: () => Effect.void }),
      Toys.check({ id: "toy.core", law: "lists are whole", holds: () => Effect.void })
    )
    expect(cases(Toys.subject()).map(({ name }) => name)).toEqual([
      "toy.core: lists are whole",
      "toy.ban: bans end"
    ])
  })

  it("skips checks that are not selected or do not apply; with allowInconclusive, also checks that lack a capability", async () => {
    registry.checks.push(
      Toys.check({ id: "toy.a", holds: () => Effect.void }),
      Toys.check({ id: "toy.b", needs: ["clock"], holds: () => Effect.void }),
      Toys.check({ id: "toy.c", profile: "ban", holds: () => Effect.void }),
      Toys.check({ id: "toy.d", holds: () => Effect.void })
    )
    const subject = Toys.subject({
      notApplicable: ({ profile }) => (profile === "ban" ? "it never bans" : undefined)
    })
    const [, needsClock] = cases(subject, { exclude: ["toy.a"] })
    expect(needsClock?.skip).toBeUndefined()
    await expect(needsClock?.run()).rejects.toThrow("it needs a clock that can be moved (--clock URL)")
    const lenient = { exclude: ["toy.a"], allowInconclusive: true }
    expect(cases(subject, lenient).map(({ skip }) => skip)).toEqual([
      "not selected for this run",
      "it needs a clock that can be moved (--clock URL)",
      undefined,
      "it never bans"
    ])
    expect(cases(subject, { only: ["toy.d"] }).map(({ skip }) => skip === undefined)).toEqual([
      false,
      false,
      true,
      false
    ])
  })

  it("throws if a pattern matches nothing, or if no check is left", () => {
    registry.checks.push(Toys.check({ id: "toy.a", holds: () => Effect.void }))
    expect(() => cases(Toys.subject(), { only: ["toy.b"] })).toThrow('"toy.b" names no check')
    expect(() => cases(Toys.subject(), { exclude: ["toy.a"] })).toThrow("no check is left")
    expect(() => cases(Toys.subject({ interfaces: {} }))).toThrow("no check is left")
  })

  it("uses the given level, by default spec for servers and design for ports", async () => {
    registry.checks.push(
      Toys.check<number>({ id: "toy.design", level: "design", examples: [1], holds: violate }),
      Toys.check<number>({
        id: "toy.advised",
        level: "design",
        advisedBy: "RFC 9110",
        examples: [1],
        holds: violate
      })
    )
    const server = Toys.subject({ kind: "http" })
    expect(await outcomes({}, server)).toEqual([{ name: "toy.advised: the toy holds", outcome: "passed" }])
    expect(await outcomes()).toHaveLength(2)
    const strict = await outcomes({ level: "design" })
    expect(strict.map(({ outcome }) => outcome instanceof ConformanceError)).toEqual([true, true])
  })

  it("returns a case that passes if the law holds or does not apply", async () => {
    expect(await outcomeOf(Toys.check<number>({ examples: [1], holds: () => Effect.void }))).toBe("passed")
    const never = Toys.check<number>({ examples: [1], holds: () => inapplicable("never") })
    expect(await outcomeOf(never)).toBe("passed")
  })

  it("returns a case that rejects with expected, actual, steps and token if the law is violated", async () => {
    const toy = Toys.check<number>({
      id: "toy.broken",
      law: "the result is yes",
      examples: [5],
      holds: (_face, _given, trial) => {
        trial.record({ did: "GET /pets", got: "200 []" })
        trial.record({ did: "let 1 s pass", got: "" })
        return violate()
      }
    })
    const error = await outcomeOf(toy)
    if (!(error instanceof ConformanceError)) return expect(error).toBeInstanceOf(ConformanceError)
    expect(error.name).toBe("ConformanceError")
    expect(error.result).toMatchObject({ id: "toy.broken", status: "fail" })
    const { token } = error.result.counterexample ?? {}
    expect(token).toMatch(/^asc1_/)
    expect(error.message.split("\n")).toEqual([
      "toy.broken fail: the result is yes",
      "expected yes",
      "got      no",
      "  1. GET /pets → 200 []",
      "  2. let 1 s pass",
      "found in an example, reproduced 3 of 3 times",
      `replay: ${token}`
    ])
  })

  it("returns a case that rejects if the check is inconclusive or the suite fails", async () => {
    const inconclusive = await outcomeOf(
      Toys.check<number>({ examples: [1], holds: () => undecided("no idea") })
    )
    expect(inconclusive).toBeInstanceOf(ConformanceError)
    expect(String(inconclusive)).toBe("ConformanceError: toy.check inconclusive: the toy holds\nno idea")
    const faulty = await outcomeOf(
      Toys.check<number>({ examples: [1], holds: () => Effect.die(new Error("oops")) })
    )
    expect(faulty).toBeInstanceOf(ConformanceError)
    expect(String(faulty)).toMatch(/^ConformanceError: toy\.check error: the toy holds\n.*oops/)
    expect(await outcomeOf(Toys.check({ holds: () => Effect.void }))).toBeInstanceOf(ConformanceError)
  })

  it("tries the same random cases with the same seed", async () => {
    const fc = await import("fast-check")
    const seen: Array<number> = []
    const toy = Toys.check<number>({
      cases: fc.nat(),
      holds: (_face, given) => Effect.sync(() => void seen.push(given))
    })
    await outcomeOf(toy, { seed: 3, effort: 0.05 })
    await outcomeOf(toy, { seed: 3, effort: 0.05 })
    expect(seen).toHaveLength(10)
    expect(seen.slice(0, 5)).toEqual(seen.slice(5))
  })

  it("redacts keys in errors, even if the server returns them", async () => {
    const main = "ast_0f3kQ9zLw2mB7vXc4nRt8yHj"
    const subject = Toys.subject({ redact: Redaction.make({ main }) })
    for (const holds of [
      () => Effect.fail(new Violation({ expected: `no ${main}`, actual: main })),
      () => undecided(main),
      () => Effect.die(new Error(main))
    ]) {
      const toy = Toys.check<number>({
        examples: [1],
        holds: (_face, _given, trial) => {
          trial.record({ did: "GET /pets", got: `401 ${main}` })
          return holds()
        }
      })
      const error = await outcomeOf(toy, {}, subject)
      if (!(error instanceof ConformanceError)) return expect(error).toBeInstanceOf(ConformanceError)
      expect(error.message).not.toContain(main)
      // Runners also print the fields of an error.
      expect(JSON.stringify(error.result)).not.toContain(main)
    }
  })

  it("returns, over HTTP, a first case for the set-up and last cases for every exchange", async () => {
    registry.checks.push(Toys.check<number>({ examples: [1], holds: () => Effect.void }))
    registry.ambientChecks.push({
      id: "every.toy",
      law: "no exchange is wrong",
      clauses: ["errors.body"],
      level: "spec",
      isAbout: () => true,
      examine: ({ response }) =>
        response.status === 200 ? undefined : new Violation({ expected: "200", actual: "401" })
    })
    const open = () =>
      Effect.runPromise(
        HttpSubject.make({
          name: "toy",
          transport: ({ headers }) =>
            Effect.succeed(wireResponse(headers[0]?.[1] === "Bearer good" ? 200 : 401, [], "[]")),
          basePath: "",
          baseUrl: undefined,
          keys: { main: "good" }
        })
      )
    const all = await outcomes({}, await open())
    expect(all.map(({ name }) => name)).toEqual([
      "the set-up is correct",
      "toy.check: the toy holds",
      "every.toy: no exchange is wrong"
    ])
    expect(all.map(({ outcome }) => outcome === "passed")).toEqual([true, true, false])
    const message = String(all[2]?.outcome)
    expect(message).toContain("expected 200\ngot      401\n")
    expect(message).not.toMatch(/replay: *($|\n|undefined)/)
    const without = await outcomes({ exclude: ["every.*"] }, await open())
    expect(without[2]?.outcome).toBe("skipped: not selected for this run")
  })

  it("returns, over HTTP, a first case that rejects if the set-up is invalid", async () => {
    const subject = await Effect.runPromise(
      HttpSubject.make({
        name: "toy",
        transport: () => Effect.succeed(wireResponse(401)),
        basePath: "",
        baseUrl: undefined,
        keys: { main: "bad" }
      })
    )
    registry.checks.push(Toys.check<number>({ examples: [1], holds: () => Effect.void }))
    const [first] = await outcomes({}, subject)
    expect(String(first?.outcome)).toContain("the server rejects the main key (--key) with status 401")
  })
})

describe("node:test with the cases of the suite", () => {
  const here = (path: string): string => pathToFileURL(fileURLToPath(new URL(path, import.meta.url))).href

  const runScript = async (stores: string): Promise<{ readonly code: number; readonly output: string }> => {
    const directory = await mkdtemp(join(tmpdir(), "animal-store-cases-"))
    try {
      const script = join(directory, "conformance.test.mts")
      await writeFile(
        script,
        `import { test } from "node:test"
import * as Layer from ${JSON.stringify(import.meta.resolve("effect/Layer"))}
import * as Effect from ${JSON.stringify(import.meta.resolve("effect/Effect"))}
import * as ArrayStores from ${JSON.stringify(here("../selftest/ArrayStores.ts"))}
import { PetRepository } from ${JSON.stringify(here("../../core/ports/PetRepository.ts"))}
import * as Conformance from ${JSON.stringify(here("../Conformance.ts"))}
import { cases } from ${JSON.stringify(here("./Cases.ts"))}

const petRepository = ${stores}
const subject = Conformance.ports({ name: "arrays", petRepository })
for (const { name, run, skip } of cases(subject, { only: ["list.filter"], seed: 1 })) {
  test(name, { skip: skip ?? false }, run)
}
`
      )
      // Otherwise the inner runner reports in the protocol of the outer one.
      const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env
      return await new Promise((resolve) => {
        execFile(
          process.execPath,
          ["--test", "--test-reporter=tap", script],
          { env },
          (error, stdout, stderr) => {
            resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
          }
        )
      })
    } finally {
      await rm(directory, { recursive: true })
    }
  }

  it("runs the selected cases on a correct store, and skips the other cases", async () => {
    const { code, output } = await runScript("ArrayStores.layer")
    expect(output).toMatch(/^ok [0-9]+ - list\.filter: /m)
    expect(output).toMatch(/^ok [0-9]+ - .* # SKIP not selected for this run$/m)
    expect(output).toMatch(/^# pass 1$/m)
    expect(output).toMatch(/^# fail 0$/m)
    expect(code).toBe(0)
  }, 120_000)

  it("fails with a counterexample on a store that does not filter lists", async () => {
    const { code, output } = await runScript(`Layer.sync(PetRepository, () => {
  const correct = ArrayStores.petRepository()
  return { ...correct, page: (query) => correct.page({ ...query, status: undefined }) }
})`)
    expect(code).toBe(1)
    expect(output).toMatch(/^not ok [0-9]+ - list\.filter: /m)
    expect(output).toMatch(/list\.filter fail: /)
    expect(output).toMatch(/replay: asc1_/)
    expect(output).toMatch(/^# fail 1$/m)
  }, 120_000)
})
