/** Renders a report as GitHub-flavored Markdown, for the summary of a CI job or a comment. */
import type { Cause, CheckResult, Counterexample, Report } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a document whose structure no text of the subject can change. */
export const render = (report: Report): string => {
  const withStatus = (status: CheckResult["status"]) =>
    report.checks.filter((check) => check.status === status)
  const { kind, name } = report.subject
  const claims = Wording.claims(report)
  return [
    `## ${prose(Wording.verdict(report))}`,
    [
      `Subject: ${prose(name)} (${kind}).`,
      ...Wording.provenance(report).map(([name, text]) => `${name}: ${prose(text)}.`),
      `Started: ${prose(report.startedAt)}; ${prose(Wording.cost(report))}.`
    ].join(" "),
    ...(claims === undefined ? [] : [prose(`${claims}.`)]),
    table(
      ["planned", "decided", ...Wording.countedStatuses.map(([, word]) => word)],
      [
        [
          report.counts.planned,
          report.counts.decided,
          ...Wording.countedStatuses.map(([status]) => report.counts[status])
        ].map(String)
      ]
    ),
    ...Wording.causes(report).flatMap(cause),
    ...failures(withStatus("fail")),
    ...reasons("Suite errors", withStatus("error")),
    ...reasons("Warnings", withStatus("warn")),
    ...reasons("Inconclusive", withStatus("inconclusive")),
    ...reasonDetails("Not applicable", withStatus("not-applicable")),
    ...reasonDetails("Excluded", withStatus("excluded")),
    ...lines("Stopped early", report.stopped),
    ...lines("Choices of the subject", report.choices),
    ...lines("Findings of the doctor", report.findings)
  ]
    .map((block) => `${block}\n`)
    .join("\n")
}

/** Describes a cause; the first one is open, because it probably explains the others. */
const cause = ([check, group]: readonly [CheckResult, Cause], index: number): ReadonlyArray<string> => {
  const consequences = Wording.consequences(group)
  const blocks = [
    prose(`${check.law} (${check.section}, level ${check.level})`),
    ...(check.counterexample === undefined
      ? [prose(Wording.summary(check))]
      : counterexampleBlocks(check.counterexample)),
    ...(consequences === undefined ? [] : [prose(`${consequences}.`)])
  ]
  return index === 0
    ? [`### Probable cause: ${code(check.id)}`, ...blocks]
    : details(`Another finding: ${code(check.id)}`, ...blocks)
}

const failures = (checks: ReadonlyArray<CheckResult>): ReadonlyArray<string> =>
  checks.length === 0
    ? []
    : [
        "### Failed",
        table(
          ["Check", "Clause", "Expected", "Actual", "Violations"],
          checks.map(({ counterexample, id, law, reason = "", section }) => [
            code(id),
            prose(`${section} ${law}`),
            code(counterexample?.expected ?? ""),
            code(counterexample?.actual ?? reason),
            String(counterexample?.times ?? "")
          ])
        )
      ]

const counterexampleBlocks = (counterexample: Counterexample): ReadonlyArray<string> => {
  const { actual, expected, steps } = counterexample
  const replay = Wording.replayCommand(counterexample)
  const commands = steps.flatMap(({ curl }) => (curl === undefined ? [] : [printable(curl)]))
  return [
    fenced("text", [
      ...steps.map((step, index) => `${index + 1}. ${Wording.step(step)}`),
      `expected: ${printable(expected)}`,
      `actual:   ${printable(actual)}`
    ]),
    ...(commands.length === 0 ? [] : [fenced("sh", commands)]),
    ...(replay === undefined ? [] : [fenced("sh", [replay])])
  ]
}

const byReason = (checks: ReadonlyArray<CheckResult>): string =>
  table(
    ["Checks", "Reason"],
    Wording.byReason(checks).map(([reason, group]) => [
      group.map(({ id }) => code(id)).join(", "),
      prose(reason)
    ])
  )

const reasons = (title: string, checks: ReadonlyArray<CheckResult>): ReadonlyArray<string> =>
  checks.length === 0 ? [] : [`### ${title}`, byReason(checks)]

const reasonDetails = (title: string, checks: ReadonlyArray<CheckResult>): ReadonlyArray<string> =>
  checks.length === 0 ? [] : details(`${title}: ${checks.length}`, byReason(checks))

const lines = (title: string, items: ReadonlyArray<string>): ReadonlyArray<string> =>
  items.length === 0 ? [] : details(title, list(items.map(prose)))

const details = (summary: string, ...blocks: ReadonlyArray<string>): ReadonlyArray<string> => [
  `<details><summary>${summary}</summary>`,
  ...blocks,
  "</details>"
]

const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [headings, headings.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** Renders a list. An empty item gets a space, because a hyphen alone would not be an item. */
const list = (items: ReadonlyArray<string>): string =>
  items.map((item) => `- ${item === "" ? "&#32;" : item}`).join("\n")

/** Puts printable lines unchanged into a fence that is longer than any run of backticks in them. */
const fenced = (language: string, lines: ReadonlyArray<string>): string => {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? [])
  const fence = "`".repeat(Math.max(2, ...runs.map((run) => run.length)) + 1)
  return [fence + language, ...lines, fence].join("\n")
}

/**
 * Characters with a meaning in Markdown, in its tables, in HTML or in automatic links of GitHub: some of them anywhere,
 * others only where a line or a link can begin.
 */
const special = /[!"#$%&'*+<=>@[\\\]^_`{|}~]|:(?=\/)|(?<=www)\.|^[- ]|(?<=^\d+)[.)]/gi

/**
 * Escapes text so that it is shown literally anywhere.
 *
 * @internal
 */
export const prose = (text: string): string =>
  printable(text).replace(special, (character) => `&#${character.charCodeAt(0)};`)

/** Escapes text, and formats it as code. */
const code = (text: string): string => `<code>${prose(text)}</code>`
