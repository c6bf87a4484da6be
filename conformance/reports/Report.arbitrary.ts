/** Generates reports of every kind, with texts such as a hostile or broken subject may return. */
import * as fc from "fast-check"
import * as Counts from "../engine/Counts.ts"
import type { Report } from "../engine/Report.ts"
import * as ReportRedaction from "../engine/ReportRedaction.ts"
import { example } from "./Report.fixture.ts"

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

const texts = fc.oneof(
  fc.constantFrom("expected 3, got 4", "every admitted request lowers Remaining by one"),
  hostile,
  fc.tuple(hostile, hostile).map(([a, b]) => a + b)
)

/** Generates reports with some of the example's results, with counts that match them, and with any texts. */
export const report: fc.Arbitrary<Report> = fc
  .record({
    results: fc.subarray([...example.checks, ...example.checks]),
    steps: fc.nat({ max: 12 }),
    drawn: fc.array(texts, { minLength: 1, maxLength: 40 }),
    isDeclared: fc.boolean(),
    kind: fc.constantFrom("port", "http"),
    level: fc.constantFrom("spec", "design"),
    verdict: fc.constantFrom("conformant", "not-conformant", "inconclusive", "selection-passed", "error"),
    exitCode: fc.constantFrom(0, 1, 2, 3),
    seed: fc.integer(),
    milliseconds: fc.nat({ max: 200_000 }),
    waitedMs: fc.nat({ max: 100_000 }),
    requests: fc.nat({ max: 100 }),
    lists: fc.nat({ max: 3 })
  })
  .map(({ drawn, isDeclared, kind, lists, results, steps, ...rest }): Report => {
    let used = 0
    const next = (): string => drawn[used++ % drawn.length] ?? ""
    const repeated = <A>(all: ReadonlyArray<A>, length: number) =>
      Array.from({ length }, (_, index) => all[index % all.length]).filter((each) => each !== undefined)
    const checks = results.map(({ counterexample, ...check }, index) => ({
      ...check,
      id: `check.${index}`,
      counterexample: counterexample && {
        ...counterexample,
        steps: repeated(counterexample.steps, steps),
        tally: steps > 6 ? "a tally" : undefined
      }
    }))
    const { implementation, limits, ...common } = example
    const [first, ...follows] = checks.filter((check) => check.status === "fail").map(({ id }) => id)
    const { checks: changed, ...value } = mapTexts(
      {
        ...common,
        ...rest,
        subject: { ...example.subject, kind },
        findings: repeated(example.findings, lists),
        stopped: repeated(example.stopped, lists),
        choices: repeated(example.choices, lists),
        limits: isDeclared ? limits : { effort: 10, only: ["core"], exclude: [] },
        counts: Counts.of(checks),
        causes: first === undefined ? [] : [{ check: first, follows, more: follows.length }],
        checks,
        profiles: Counts.byProfile(checks),
        claims: Counts.claims(checks)
      },
      next
    )
    return {
      ...value,
      // An absent reason is shown as an empty one would be, and a declared name is never empty.
      checks: changed.map((check) => ({ ...check, reason: check.reason === "" ? "-" : check.reason })),
      ...(isDeclared && implementation !== undefined
        ? { implementation: { ...implementation, name: next() || "-", contact: next() } }
        : {})
    }
  })

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
