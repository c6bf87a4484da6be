/** Generates reports of every kind, with texts such as a hostile or broken subject may return. */
import * as fc from "fast-check"
import { profiles } from "../clauses/Profile.ts"
import * as Counts from "../engine/Counts.ts"
import {
  type CheckResult,
  type Counterexample,
  type Report,
  schemaVersion,
  statuses
} from "../engine/Report.ts"
import * as ReportRedaction from "../engine/ReportRedaction.ts"

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

const count = fc.nat({ max: 100 })
const level = fc.constantFrom("spec", "design")

const counterexample = (text: fc.Arbitrary<string>): fc.Arbitrary<Counterexample> =>
  fc.record({
    expected: text,
    actual: text,
    steps: fc.array(fc.record({ did: text, got: text, curl: text }, { requiredKeys: ["did", "got"] }), {
      maxLength: 12
    }),
    tally: fc.option(text, { nil: undefined }),
    times: count,
    token: fc.option(
      fc.base64String({ maxLength: 40 }).map((word) => `asc1_${word}`),
      { nil: undefined }
    )
  })

const check = (text: fc.Arbitrary<string>): fc.Arbitrary<Omit<CheckResult, "id">> =>
  fc
    .record({
      law: text,
      section: fc.constantFrom("§4.1", "§8.3"),
      level,
      profile: fc.constantFrom(...profiles),
      status: fc.constantFrom(...statuses),
      // An absent reason is shown as an empty one would be.
      reason: fc.option(
        text.filter((reason) => reason !== ""),
        { nil: undefined }
      ),
      decided: count,
      counterexample: fc.option(counterexample(text), { nil: undefined })
    })
    .map((drawn) => (drawn.status === "fail" ? drawn : { ...drawn, counterexample: undefined }))

const causesOf = (checks: ReadonlyArray<CheckResult>): Report["causes"] => {
  const [first, ...others] = checks.filter(({ status }) => status === "fail").map(({ id }) => id)
  return first === undefined ? [] : [{ check: first, follows: others, more: others.length }]
}

/** Generates reports with free texts from `text`, and with counts that match the checks. */
const reportOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Report> =>
  fc
    .record({
      implementation: fc.option(
        // A declared name is never empty.
        fc.record(
          { name: text.map((name) => name || "-"), version: text, contact: text },
          { requiredKeys: ["name"] }
        ),
        { nil: undefined }
      ),
      name: text,
      kind: fc.constantFrom("port", "http"),
      capabilities: fc.subarray(["clock", "tinyPlan"]),
      level,
      seed: fc.integer(),
      milliseconds: fc.nat({ max: 200_000 }),
      waitedMs: fc.nat({ max: 100_000 }),
      requests: count,
      findings: fc.array(text, { maxLength: 3 }),
      stopped: fc.array(text, { maxLength: 3 }),
      choices: fc.array(text, { maxLength: 3 }),
      checks: fc.array(check(text), { maxLength: 12 }),
      limits: fc.record(
        {
          requests: count,
          milliseconds: count,
          effort: fc.constantFrom(1, 10),
          only: fc.subarray(["core", "list.*"]),
          exclude: fc.subarray(["core", "list.*"])
        },
        { requiredKeys: ["effort", "only", "exclude"] }
      ),
      verdict: fc.constantFrom("conformant", "not-conformant", "inconclusive", "selection-passed", "error"),
      exitCode: fc.constantFrom(0, 1, 2, 3)
    })
    .map(({ capabilities, checks: drawn, implementation, kind, name, ...rest }): Report => {
      const checks = drawn.map((result, index): CheckResult => ({ id: `check.${index}`, ...result }))
      return {
        schemaVersion,
        suite: { name: "animal-store", version: "0.1.0", laws: "1.0.0" },
        contract: { name: "Animal Store Service Interface", version: "1.0.0" },
        ...(implementation === undefined ? {} : { implementation }),
        subject: { name, kind, capabilities },
        startedAt: "2026-11-20T10:00:00.000Z",
        counts: Counts.of(checks),
        causes: causesOf(checks),
        checks,
        profiles: Counts.byProfile(checks),
        claims: Counts.claims(checks),
        ...rest
      }
    })

export const report: fc.Arbitrary<Report> = reportOf(texts)

/** Changes every free text of a report with `change`. */
export const mapTexts = (report: Report, change: (text: string) => string): Report => {
  const changed = ReportRedaction.ofReport(report, change)
  return { ...changed, checks: changed.checks.map((result) => ({ ...result, law: change(result.law) })) }
}

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
