import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ambientChecks, checks } from "../checks/Checks.ts"
import { clauses } from "../clauses/Clauses.ts"
import { conformingVariants } from "./ConformingVariants.ts"
import { faults } from "./Faults.ts"
import { defaults } from "./plain/Choices.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

const run = Effect.runPromise

const allChecks = [...checks, ...ambientChecks]

describe("the self-test", () => {
  it("has at least 600 faulty and 60 correct backends, all with unique ids", () => {
    expect(faults.length).toBeGreaterThanOrEqual(600)
    expect(conformingVariants.length).toBeGreaterThanOrEqual(60)
    const names = [...faults, ...conformingVariants].map(({ id }) => id)
    expect(names.length).toBe(new Set(names).size)
  })

  it("expects words of at least six characters in the report of every fault", () => {
    expect(faults.filter(({ words }) => words.length < 6).map(({ id }) => id)).toEqual([])
  })

  it("names an existing check for every fault, and a clause that the check covers", () => {
    const mismatched = faults.filter(
      ({ breaks, killedBy }) =>
        !allChecks.some(({ clauses, id }) => id === killedBy && clauses.includes(breaks))
    )
    expect(
      mismatched.map(({ breaks, id, killedBy }) => `${id}: ${killedBy} does not check ${breaks}`)
    ).toEqual([])
  })

  it("has a faulty backend for every check of level spec", () => {
    const idle = allChecks.filter(
      ({ id, level }) => level === "spec" && !faults.some(({ killedBy }) => killedBy === id)
    )
    expect(idle.map(({ id }) => id)).toEqual([])
  })
})

describe("a rate-limit store that admits every request", () => {
  it("does not prevent a check from ending", async () => {
    const fault = faults.find(({ id }) => id === "limits-store.first-wins")
    if (fault === undefined) throw new Error("the fault is missing")
    const only = ["ban.slots"]
    const report = await run(SelfTest.examine(Subjects.ofFault(fault), { level: "design", seed: 1, only }))
    expect(report.checks.filter(({ status }) => status !== "excluded")).toMatchObject([
      { id: "ban.slots", status: "inconclusive", reason: "only 0 of 21 requests were denied" }
    ])
  })
})

describe("the checks of the suite", () => {
  it("cover exactly the clauses without a reason why they are unchecked", () => {
    const uncovered = clauses.filter(
      (clause) =>
        !("unchecked" in clause) &&
        !allChecks.some((check) => check.clauses.some((slug) => slug === clause.slug))
    )
    expect(uncovered.map(({ slug }) => slug)).toEqual([])
    const both = clauses.filter(
      (clause) =>
        "unchecked" in clause && allChecks.some((check) => check.clauses.some((slug) => slug === clause.slug))
    )
    expect(both.map(({ slug }) => slug)).toEqual([])
  })

  it("cover every checked clause of level spec at level spec", () => {
    const weak = clauses.filter(
      ({ level, slug, ...clause }) =>
        level === "spec" &&
        !("unchecked" in clause) &&
        !allChecks.some(
          (check) => check.level === "spec" && check.clauses.some((candidate) => candidate === slug)
        )
    )
    expect(weak.map(({ slug }) => slug)).toEqual([])
  })

  it("each cover a clause of level spec if they are of level spec", () => {
    const designOnly = allChecks.filter(
      ({ clauses: slugs, level }) =>
        level === "spec" &&
        slugs.every((slug) => clauses.find((clause) => clause.slug === slug)?.level === "design")
    )
    expect(designOnly.map(({ id }) => id)).toEqual([])
  })
})

describe("the reference backend", () => {
  it("passes every check of level design, over HTTP and at the ports", async () => {
    const http = await run(SelfTest.examine(Subjects.reference, { level: "design", seed: 1 }))
    expect(SelfTest.objections(http)).toEqual([])
    expect(http.verdict).toBe("conformant")
    const ports = await run(SelfTest.examine(Subjects.referencePorts, { level: "design", seed: 1 }))
    expect(SelfTest.objections(ports)).toEqual([])
  })
})

describe("a conforming variant (a correct server that differs from ours)", () => {
  /** Variants that together make every choice; `KillMatrix.full.test.ts` runs all. */
  const sample = conformingVariants.filter(({ id }) =>
    /^(mixed\..*|plain|store\.used-and-shuffled|keys\.own-catalogue|names\.decomposed|windows\.log|ban\.first-and-short|pages\.foreign-cursors)$/.test(
      id
    )
  )

  it("is in the sample for every choice", () => {
    const chosen = sample.flatMap((variant) => ("choices" in variant ? Object.entries(variant.choices) : []))
    const isChosen = ([name, value]: readonly [string, unknown]) =>
      chosen.some(([other, choice]) => other === name && !Object.is(choice, value))
    expect(Object.entries(defaults).filter((choice) => !isChosen(choice))).toEqual([])
  })

  it.each(sample)("passes all checks at its level: $id", async (variant) => {
    expect(await run(SelfTest.complaints(variant, 1))).toEqual([])
  })
})
