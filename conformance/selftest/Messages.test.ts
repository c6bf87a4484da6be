/** Checks that reports show the requests that were sent, the smallest failing case, and why a check is undecided. */
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { CheckResult, Report } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Html from "../reports/Html.ts"
import * as JUnit from "../reports/JUnit.ts"
import { escaped } from "../reports/Markup.ts"
import * as Terminal from "../reports/Terminal.ts"
import * as Wording from "../reports/Wording.ts"
import type { Subject } from "../subjects/Subject.ts"
import type { Fault } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

interface Examined {
  readonly report: Report
  readonly subject: Subject
  readonly failed: CheckResult
}

/** Runs only the check that a fault names; throws if the report does not contain the check. */
const examine = async (fault: Fault, seed = 1): Promise<Examined> => {
  let opened: Subject | undefined
  const subject = Effect.tap(Subjects.ofFault(fault), (made) =>
    Effect.sync(() => {
      opened = made
    })
  )
  const report = await Effect.runPromise(
    SelfTest.examine(subject, { level: "design", seed, only: [fault.killedBy] })
  )
  const failed = report.checks.find(({ id }) => id === fault.killedBy)
  if (opened === undefined || failed === undefined) throw new Error(`${fault.id} was not examined`)
  return { report, subject: opened, failed }
}

/** For each check that sends requests of its own, one server fault that it rejects. */
const serverFaults = faults.filter(
  ({ killedBy, where }, index) =>
    where.at === "http" &&
    /^(auth|create|get|list|protocol)\./.test(killedBy) &&
    index === faults.findIndex((fault) => fault.where.at === "http" && fault.killedBy === killedBy)
)

describe("the report of a failed check", () => {
  it.each(serverFaults)(
    "shows the requests of the check in every format, for the fault $id",
    async (fault) => {
      const { failed, report, subject } = await examine(fault)
      for (const { did = "", key, request } of subject.exchanges) {
        expect(did.startsWith(`${request.method} `)).toBe(true)
        expect(did).not.toContain("other credentials")
        if (key === "other") expect(did).toMatch(/Authorization/)
      }
      const { counterexample } = failed
      // A law over a whole run needs more requests than one check sends, so it might hold here.
      if (counterexample === undefined) return
      // The law about the version in the base address sends no request.
      expect(counterexample.steps.length > 0).toBe(subject.exchanges.length > 0)
      const junit = JUnit.render(report)
      const html = Html.render(report)
      const terminal = Terminal.render(report, { columns: 1_000 })
      for (const step of counterexample.steps) {
        expect(junit).toContain(escaped(Wording.step(step)))
        expect(html).toContain(`<code>${escaped(step.did)}</code>`)
      }
      // The terminal shows only the last steps.
      for (const step of counterexample.steps.slice(-3)) expect(terminal).toContain(printable(step.did))
    }
  )
})

describe("a large integer in a counterexample", () => {
  const doubles = faults.filter(({ id }) =>
    ["create.category-as-double", "catalogue.category-doubles"].includes(id)
  )
  it.each(doubles)("is at the limit of exact doubles or of int64, for the fault $id", async (fault) => {
    expect(doubles).toHaveLength(2)
    for (const seed of [1, 2, 3]) {
      const { failed } = await examine(fault, seed)
      const large = (failed.counterexample?.case.match(/-?\d{10,}/g) ?? []).map(BigInt)
      expect(large).toHaveLength(1)
      // Fixed examples are at the limits of int64; random cases shrink to the first integer that no double equals.
      expect([2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n) + 1n]).toContain(large[0])
    }
  })
})

describe("an undecided check", () => {
  it("is a skipped test case with the reason in the JUnit report", async () => {
    const reference = Effect.map(Subjects.reference, (subject): Subject => {
      const { meter: _, ...interfaces } = subject.interfaces
      return {
        ...subject,
        interfaces,
        capabilities: new Set([...subject.capabilities].filter((capability) => capability !== "tinyPlan"))
      }
    })
    const report = await Effect.runPromise(
      SelfTest.examine(reference, { level: "spec", seed: 1, only: ["limits"] })
    )
    const undecided = report.checks.filter(({ status }) => status === "inconclusive")
    expect(undecided.length).toBeGreaterThan(0)
    const junit = JUnit.render(report)
    for (const { id, reason = "" } of undecided) {
      expect(reason).not.toBe("")
      const after = junit.slice(junit.indexOf(`name="${id}"`))
      expect(after.slice(0, after.indexOf("</testcase>"))).toContain(
        `<skipped message="inconclusive: ${escaped(reason)}"/>`
      )
    }
    expect(junit).toContain('failures="0" errors="0"')
  })
})
