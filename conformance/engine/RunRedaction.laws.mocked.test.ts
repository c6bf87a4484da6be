import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { beforeEach, describe, expect, it, vi } from "vitest"
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { inapplicable, undecided, Violation } from "../evaluation/Outcome.ts"
import * as Json from "../reports/Json.ts"
import * as Redaction from "../subjects/Redaction.ts"
import * as ReplayToken from "./ReplayToken.ts"
import type { Report } from "./Report.ts"
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

describe("the report of Run.run", () => {
  const key = fc
    .string({ unit: fc.constantFrom(..."0123456789ABCDEFabcdefxyz-_.~"), minLength: 20, maxLength: 48 })
    .map((text) => `ast_${text}`)

  it("contains no key, even if a faulty server returns keys in several encodings", async () => {
    await fc.assert(
      fc.asyncProperty(
        key,
        key,
        fc.array(
          fc.constantFrom(
            (key: string) => key,
            (key: string) => `Bearer ${key}`,
            (key: string) => JSON.stringify({ message: `no key ${key}` }),
            (key: string) => encodeURIComponent(key),
            (key: string) => `Basic ${btoa(`:${key}`)}`
          ),
          { minLength: 1, maxLength: 4 }
        ),
        async (main, tiny, forms) => {
          const leak = forms.map((form, index) => form(index % 2 === 0 ? main : tiny)).join(" ")
          registry.checks.length = 0
          registry.checks.push(
            Toys.check<number>({
              id: "toy.fail",
              examples: [1],
              holds: (_face, _given, trial) => {
                trial.record({ did: `GET /pets ${leak}`, got: `200 ${leak}` })
                return Effect.fail(new Violation({ expected: `none of ${leak}`, actual: leak }))
              }
            }),
            Toys.check<number>({ id: "toy.inconclusive", examples: [1], holds: () => undecided(leak) }),
            Toys.check<number>({ id: "toy.not-applicable", examples: [1], holds: () => inapplicable(leak) }),
            Toys.check<number>({
              id: "toy.error",
              examples: [1],
              holds: () => Effect.die(new Error(leak))
            })
          )
          const report = await run(
            { findings: [leak] },
            Toys.subject({
              name: leak,
              redact: Redaction.make({ main, tiny }),
              script: ({ actual }) => `curl ${actual} ${leak}`
            })
          )
          const text = Json.render(report)
          for (const key of [main, tiny]) {
            expect(text).not.toContain(key)
            expect(text).not.toContain(encodeURIComponent(key))
            expect(text).not.toContain(btoa(`:${key}`).slice(2, -4))
          }
          expect(text).toContain("‹key:main›")
          expect(report.checks.map(({ status }) => status)).toEqual([
            "fail",
            "inconclusive",
            "not-applicable",
            "error"
          ])
        }
      ),
      { numRuns: 40 }
    )
  })

  it("contains no key in replay tokens, even if a law sent a key in a query, a header or a body", async () => {
    const main = "ast_0f3kQ9zLw2mB7vXc4nRt8yHj"
    registry.checks.push(Toys.check<number>({ examples: [1], holds: () => Effect.void }))
    registry.ambientChecks.push({
      id: "every.toy",
      law: "nothing is wrong",
      clauses: ["errors.body"],
      level: "spec",
      isAbout: () => true,
      examine: () => new Violation({ expected: "yes", actual: "no" })
    })
    const response = { status: 401, headers: [], body: new Uint8Array() }
    const plain = { method: "GET", target: "/v1/pets", headers: [], body: undefined } as const
    const bytes = (text: string) => new TextEncoder().encode(text)
    for (const request of [
      { ...plain, target: `/v1/pets?api_key=${main}` },
      { ...plain, headers: [["X-Api-Key", main]] as const },
      { ...plain, body: bytes(`{"key":"${main}"}`) }
    ]) {
      const exchange = { index: 0, key: "none", request, response, sentAt: 0, receivedAt: 1, isAlone: true }
      const report = await run(
        {},
        Toys.subject({
          kind: "http",
          basePath: "/v1",
          redact: Redaction.make({ main }),
          exchanges: [{ ...exchange, key: "none" }]
        })
      )
      const ambient = report.checks.find(({ id }) => id === "every.toy")
      expect(ambient?.status).toBe("fail")
      expect(JSON.stringify(ambient)).not.toContain(main)
      const { token } = ambient?.counterexample ?? {}
      if (token === undefined) continue
      const read = Result.getOrThrow(ReplayToken.decode(token))
      expect(read.case).not.toContain(main)
      expect(read.case).not.toContain(btoa(main).slice(0, 12))
      expect(read.case).not.toContain(btoa(`{"key":"${main}`).slice(12, -4))
    }
  })
})
