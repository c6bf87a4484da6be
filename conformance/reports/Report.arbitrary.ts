/** Generates reports of every kind, with texts such as a hostile or broken subject may return. */
import * as fc from "fast-check"
import type { Coverage } from "../dimensions/Coverage.ts"
import {
  type CheckResult,
  type ClauseResult,
  type Counterexample,
  type Report,
  type Status,
  schemaVersion
} from "../engine/Report.ts"
import { profiles } from "../evaluation/Profile.ts"

/** Any string, lone surrogates included. */
const anyString = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
)

/** Commands for CI services at various positions in a text, because a report may break a line before a command. */
const command = fc
  .record({
    before: fc.oneof(
      fc.constantFrom("", " ", "\u00a0\u2003", "#", "\r\n"),
      fc.nat({ max: 160 }).map((length) => "x".repeat(length)),
      fc.nat({ max: 160 }).map((length) => `${"x".repeat(length)} `)
    ),
    command: fc.constantFrom(
      "::error file=a.ts::broken",
      "::stop-commands::token",
      ":::",
      "##[error]broken",
      "##[set-output name=a]b",
      "##vso[task.setvariable variable=a]b",
      "##VSO[task.complete result=Succeeded]",
      "##teamcity[buildStatus status='SUCCESS']"
    )
  })
  .map(({ before, command }) => before + command)

/** Texts with a special meaning for a terminal, a CI service, XML, Markdown, HTML or a shell. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  command,
  fc.constantFrom(
    "\u001b[2J\u001b]0;title\u0007",
    "\u202egnp.exe\u2066",
    "]]>",
    "<![CDATA[x]]>",
    "&amp;&#0;&",
    "\ufffe\uffff\ud800",
    "<script>alert(1)</script>",
    "</details></td></code></pre>",
    "<!-- x -->",
    `" onload='x'`,
    "| a | b |",
    "```\n# heading\n```",
    "`````",
    "[x](javascript:x) ![y](z) https://example.org www.example.org a@b.example #1 @name",
    "a\nb\r\n\tc\u2028d\u0085e",
    "- item\n\n1. item\n\n> quote\n\n---",
    "\\ \\| \\n",
    "$(id) `id` $HOME ' \" !",
    "   ",
    "漢字かな交じり文 😀 e\u0301"
  ),
  anyString
)

const words = fc.constantFrom(
  "expected 3, got 4",
  "it takes 86400 s of waiting; a clock (--clock) makes it possible",
  "every admitted request lowers Remaining by one"
)

const texts = fc.oneof(
  words,
  hostile,
  fc.tuple(hostile, hostile).map(([a, b]) => a + b)
)

const statuses: ReadonlyArray<Status> = [
  "pass",
  "fail",
  "warn",
  "inconclusive",
  "not-applicable",
  "excluded",
  "error"
]

const count = fc.nat({ max: 100 })
const level = fc.constantFrom("spec", "design")

const slugs = ["list.limit", "list.limit.maximum", "rate.remaining", "auth.required"]

const coverage = (text: fc.Arbitrary<string>): fc.Arbitrary<Coverage> =>
  fc.record({
    dimensions: fc.array(fc.record({ name: text, tried: fc.nat(), of: fc.nat() }), { maxLength: 3 }),
    pairs: fc.record({ tried: fc.nat(), of: fc.nat() })
  })

const counterexample = (text: fc.Arbitrary<string>): fc.Arbitrary<Counterexample> =>
  fc.record({
    expected: text,
    actual: text,
    clause: fc.option(fc.constantFrom(...slugs), { nil: undefined }),
    case: text,
    steps: fc.array(fc.record({ did: text, got: text }), { maxLength: 12 }),
    reproduced: fc.nat({ max: 3 }).map((times) => ({ times, of: 3 })),
    found: fc.record({ runs: count, shrinks: count }),
    script: fc.option(text, { nil: undefined }),
    token: fc.base64String({ maxLength: 40 }).map((word) => `asc1_${word}`)
  })

const check = (text: fc.Arbitrary<string>): fc.Arbitrary<Omit<CheckResult, "id">> =>
  fc
    .record({
      law: text,
      clauses: fc.subarray(slugs, { minLength: 1 }),
      level,
      profile: fc.constantFrom(...profiles),
      status: fc.constantFrom(...statuses),
      reason: fc.option(text, { nil: undefined }),
      runs: fc.record({ planned: count, executed: count, decided: count }),
      requests: count,
      milliseconds: fc.nat({ max: 200_000 }),
      counterexample: fc.option(counterexample(text), { nil: undefined }),
      coverage: fc.option(coverage(text), { nil: undefined })
    })
    .map((drawn) =>
      drawn.status === "fail" || drawn.status === "warn" ? drawn : { ...drawn, counterexample: undefined }
    )

const clause = (text: fc.Arbitrary<string>): fc.Arbitrary<Omit<ClauseResult, "slug">> =>
  fc.record({
    section: fc.constantFrom("§4.1", "§8.3"),
    says: text,
    checks: fc.array(fc.constantFrom("check.0", "check.1"), { maxLength: 2 }),
    status: fc.constantFrom(...statuses, "unchecked")
  })

const countsOf = (checks: ReadonlyArray<CheckResult>): Report["counts"] => {
  const of = (wanted: Status) => checks.filter(({ status }) => status === wanted).length
  const notExecuted = of("not-applicable") + of("excluded")
  return {
    planned: checks.length,
    executed: checks.length - notExecuted,
    pass: of("pass"),
    fail: of("fail"),
    warn: of("warn"),
    inconclusive: of("inconclusive"),
    "not-applicable": of("not-applicable"),
    excluded: of("excluded"),
    error: of("error")
  }
}

/** Generates the fields that old reports lack; some of the generated reports lack them, too. */
const newerFields = (
  text: fc.Arbitrary<string>
): fc.Arbitrary<Pick<Report, "contract" | "implementation" | "limits" | "profiles" | "suite">> => {
  const suite = { name: "animal-store conformance", version: "0.1.0" }
  const patterns = fc.subarray(["core", "list.*"])
  return fc.oneof(
    fc.constant({ suite }),
    fc.record({
      suite: fc.constant({ ...suite, laws: "1.0.0" }),
      contract: fc.constant({ name: "Animal Store Service Interface", version: "1.0.0" }),
      implementation: fc.record(
        // A declared name is never empty.
        { name: text.map((name) => name || "-"), version: text, contact: text },
        { requiredKeys: ["name"] }
      ),
      profiles: fc.array(
        fc.record({
          profile: fc.constantFrom(...profiles),
          planned: count,
          passed: count,
          status: fc.constantFrom(...statuses)
        }),
        { maxLength: 3 }
      ),
      limits: fc.record(
        {
          requests: count,
          milliseconds: count,
          checkMilliseconds: count,
          effort: fc.constantFrom(1, 10),
          only: patterns,
          exclude: patterns
        },
        { requiredKeys: ["checkMilliseconds", "effort", "only", "exclude"] }
      )
    })
  )
}

/** Generates reports with free texts from `text`, and with counts that match the checks. */
const reportOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Report> =>
  fc
    .record({
      name: text,
      kind: fc.constantFrom("port", "http"),
      capabilities: fc.subarray(["clock", "tinyPlan"]),
      level,
      seed: fc.integer(),
      milliseconds: fc.nat({ max: 200_000 }),
      waitedMs: fc.nat({ max: 100_000 }),
      requests: count,
      findings: fc.array(text, { maxLength: 3 }),
      checks: fc.array(check(text), { maxLength: 12 }),
      clauses: fc.array(clause(text), { maxLength: slugs.length }),
      verdict: fc.constantFrom("conformant", "not-conformant", "inconclusive", "selection-passed", "error"),
      exitCode: fc.constantFrom(0, 1, 2, 3)
    })
    .chain((drawn) => newerFields(text).map((about) => ({ ...drawn, about })))
    .map(({ about, capabilities, checks: drawn, clauses, kind, name, ...rest }): Report => {
      const checks = drawn.map((result, index): CheckResult => ({ id: `check.${index}`, ...result }))
      return {
        schemaVersion,
        ...about,
        subject: { name, kind, capabilities },
        startedAt: "2026-11-20T10:00:00.000Z",
        counts: countsOf(checks),
        checks,
        clauses: clauses.map((result, index): ClauseResult => ({ slug: slugs[index] ?? "", ...result })),
        ...rest
      }
    })

export const report: fc.Arbitrary<Report> = reportOf(texts)

/** Changes every free text of a report with `change`. */
export const mapTexts = (report: Report, change: (text: string) => string): Report => ({
  ...report,
  subject: { ...report.subject, name: change(report.subject.name) },
  ...(report.implementation === undefined
    ? {}
    : {
        implementation: {
          name: change(report.implementation.name),
          ...(report.implementation.version === undefined
            ? {}
            : { version: change(report.implementation.version) }),
          ...(report.implementation.contact === undefined
            ? {}
            : { contact: change(report.implementation.contact) })
        }
      }),
  findings: report.findings.map(change),
  checks: report.checks.map((result) => ({
    ...result,
    law: change(result.law),
    reason: result.reason === undefined ? undefined : change(result.reason),
    counterexample: result.counterexample && {
      ...result.counterexample,
      expected: change(result.counterexample.expected),
      actual: change(result.counterexample.actual),
      case: change(result.counterexample.case),
      steps: result.counterexample.steps.map(({ did, got }) => ({ did: change(did), got: change(got) })),
      script: result.counterexample.script === undefined ? undefined : change(result.counterexample.script)
    }
  })),
  clauses: report.clauses.map((result) => ({ ...result, says: change(result.says) }))
})

/** Replaces each text in a report with a harmless text of the same number of lines: `t1`, `t2`, … */
export const withHarmlessTexts = (report: Report): Report => {
  const names = new Map<string, string>()
  return mapTexts(report, (text) => {
    const known = names.get(text)
    if (known !== undefined) return known
    const name = text
      .trimEnd()
      .split("\n")
      .map(() => `t${names.size + 1}`)
      .join("\n")
    names.set(text, name)
    return name
  })
}
