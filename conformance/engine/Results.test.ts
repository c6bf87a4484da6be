import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Finding } from "../clauses/Finding.ts"
import type { Program } from "../programs/Program.ts"
import type { Capability } from "../subjects/Subject.ts"
import type { Completed } from "./JudgedRun.ts"
import * as Reasons from "./Reasons.ts"
import * as Results from "./Results.ts"
import * as Selection from "./Selection.ts"

const program = (name: string, needs: ReadonlyArray<Capability> = []): Program => ({
  name,
  profile: "core",
  needs,
  requests: 1,
  run: () => {
    throw new Error("it does not run")
  }
})

const checks = Selection.checks.filter(({ slug }) => slug === "list.array")
const selected = new Set(["list.array"])

const finding = (clause: Finding["clause"], shapes: ReadonlyArray<string>, times = 1): Finding => ({
  clause,
  expected: "a list",
  actual: "an object",
  steps: [],
  times,
  shapes
})

type Done = Pick<Completed, "errors" | "programs" | "stopped">

/** What a run may have found out and done. */
type Changes = Partial<Pick<Results.Observed, "decided" | "findings"> & Done>

const nothing: Done = { programs: [], stopped: new Map(), errors: new Map() }

const target = {
  name: "server",
  transport: () => Effect.never,
  basePath: "/v1",
  baseUrl: undefined,
  keys: { main: "k" }
}

const resultOf = ({ decided = new Map(), findings = [], ...done }: Changes, chosen = selected) =>
  Results.of(
    { level: "spec", checks, selected: chosen },
    {
      decided,
      findings,
      reasonFor: (check) =>
        Reasons.reasonFor(check, { ...nothing, ...done }, { capabilities: new Set(), exchanges: [], target })
    }
  )[0]

describe("Results.of", () => {
  it.each<[string, Changes, RegExp]>([
    ["a decided clause", { decided: new Map([["list.array", 3]]) }, /^pass undefined/],
    [
      "a violated clause",
      { decided: new Map([["list.array", 3]]), findings: [finding("list.array", [])] },
      /^fail expected a list, got an object/
    ],
    ["a clause that nothing decides", {}, /^inconclusive no exchange of this run decides it/],
    [
      "a program that lacks a clock",
      { programs: [program("a", ["clock"])] },
      /^inconclusive it needs a clock/
    ],
    [
      "a program that stopped",
      {
        programs: [program("a", ["clock"]), program("b")],
        stopped: new Map([["b", "the time budget is spent"]])
      },
      /^inconclusive the time budget is spent/
    ],
    [
      "an error of the suite",
      {
        programs: [program("a"), program("b", ["clock"])],
        errors: new Map([["a", "TypeError: x is undefined"]])
      },
      /^error TypeError/
    ]
  ])("returns the status and the reason for %s", (_case, observed, expected) => {
    const result = resultOf(observed)
    expect(`${result?.status} ${result?.reason}`).toMatch(expected)
  })

  it("calls a check undecided that does not apply only if no key is declared", () => {
    const reasonFor = (slug: "auth.revoked" | "auth.expired") =>
      Reasons.reasonFor({ slug, level: "spec", profile: "auth" }, nothing, {
        capabilities: new Set(["revokedKey"]),
        exchanges: [],
        target
      })
    expect(reasonFor("auth.revoked")?.status).toBe("inconclusive")
    expect(reasonFor("auth.expired")).toBeUndefined()
  })

  it("returns the reason why a clause does not apply that nothing decides", () => {
    const optional = Selection.checks.filter((check) => check.optional !== undefined)
    const selection = {
      level: "design",
      checks: optional,
      selected: new Set(optional.map(({ slug }) => slug))
    } as const
    const observed = { decided: new Map(), findings: [], reasonFor: () => undefined }
    for (const result of Results.of(selection, observed)) {
      const { optional: reason } = optional.find(({ slug }) => slug === result.id) ?? {}
      expect(result).toMatchObject({ status: "not-applicable", reason })
    }
    expect(optional).not.toEqual([])
  })

  it("excludes what was not selected, even if it is violated", () => {
    expect(resultOf({ findings: [finding("list.array", [])] }, new Set())?.status).toBe("excluded")
  })
})

describe("Results.causes", () => {
  it("names the smallest history as the cause of others that only responses of the same kinds show", () => {
    const findings = [
      finding("list.array", ["GET list 200", "GET list 400"], 30),
      finding("list.complete", ["GET list 200"], 7),
      finding("resources.status-values", ["GET get 200"])
    ]
    expect(Results.causes(findings)).toEqual([
      { check: "list.array", follows: ["list.complete"], more: 36 },
      { check: "resources.status-values", follows: [], more: 0 }
    ])
  })

  it("puts the shortest history first, unless a longer one shows far more violations", () => {
    const history = (length: number) => Array.from({ length }, () => ({ did: "GET /pets", got: "200" }))
    const findings = [
      { ...finding("list.array", ["GET list 200"], 2), steps: history(1) },
      { ...finding("list.complete", ["GET list 400"], 91), steps: history(2) },
      { ...finding("get.found", ["GET get 404"], 91), steps: history(9) }
    ]
    expect(Results.causes(findings).map(({ check }) => check)).toEqual([
      "list.complete",
      "list.array",
      "get.found"
    ])
    // What the rare one explains, the frequent one explains, too.
    const alike = findings.map((each) => ({ ...each, shapes: ["GET list 200"] }))
    expect(Results.causes(alike)).toEqual([
      { check: "list.complete", follows: ["list.array", "get.found"], more: 183 }
    ])
  })

  it("puts a finding before a more frequent one with a longer history that has a response of its kind", () => {
    const created = {
      ...finding("create.returns-created", ["POST create 201"], 3),
      steps: [{ did: "POST /pets", got: "201 {}" }]
    }
    const listed = {
      ...finding("list.faithful", ["GET list 200"], 91),
      steps: [...created.steps, { did: "GET /pets", got: "200 []" }],
      earlier: ["POST create 201"]
    }
    const order = (findings: ReadonlyArray<Finding>) => Results.causes(findings).map(({ check }) => check)
    expect(order([listed, created])).toEqual(["create.returns-created", "list.faithful"])
    expect(order([{ ...listed, earlier: ["GET get 200"] }, created])).toEqual([
      "list.faithful",
      "create.returns-created"
    ])
  })

  it.each<[Finding["clause"], Finding["clause"]]>([
    ["auth.required", "auth.whole-key"],
    ["resources.id-unique", "list.sees-created"],
    ["create.name-type", "resources.pet-types"],
    ["list.limit.maximum-returned", "list.limit.ceiling"],
    ["list.status.before-limit", "list.limit.default-fills"],
    ["list.sees-created", "create.concurrent"],
    ["limits.per-minute", "limits.atomic"],
    ["limits.per-day", "limits.retry-after-promise"]
  ])("puts %s before %s, which it explains, even if that has far more violations", (cause, other) => {
    const findings = [finding(other, ["POST"], 500), finding(cause, ["GET"])]
    expect(Results.causes(findings).map(({ check }) => check)).toEqual([cause, other])
  })

  it("puts a response that succeeded before a rejection", () => {
    const found = (clause: Finding["clause"], got: string) => ({
      ...finding(clause, [got]),
      steps: [{ did: "GET /pets", got }]
    })
    const findings = [found("list.array", "400 {}"), found("list.complete", "200 []")]
    expect(Results.causes(findings).map(({ check }) => check)).toEqual(["list.complete", "list.array"])
  })
})
