/** Renders a report as GitHub-flavored Markdown, for the summary of a CI job or a comment. */
import type { CheckResult, Counterexample, Report } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a document whose structure no text of the subject can change. */
export const render = (report: Report): string => {
  const withStatus = (status: CheckResult["status"]) =>
    report.checks.filter((check) => check.status === status)
  const section = Wording.sectionsOf(report.clauses)
  const failed = Wording.byCause(withStatus("fail")).flatMap(([check, prevented]) => [check, ...prevented])
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
      ["planned", "executed", ...Wording.countedStatuses.map(([, word]) => word)],
      [
        [
          report.counts.planned,
          report.counts.executed,
          ...Wording.countedStatuses.map(([status]) => report.counts[status])
        ].map(String)
      ]
    ),
    ...(failed.length === 0 ? [] : failures(failed, section, report.seed)),
    ...reasons("Suite errors", withStatus("error")),
    ...reasons("Warnings", withStatus("warn")),
    ...reasons("Inconclusive", withStatus("inconclusive")),
    ...reasonDetails("Not applicable", withStatus("not-applicable")),
    ...reasonDetails("Excluded", withStatus("excluded")),
    ...clauses(report),
    ...triedOver(report),
    ...(report.findings.length === 0
      ? []
      : details("Findings of the doctor", list(report.findings.map(prose))))
  ]
    .map((block) => `${block}\n`)
    .join("\n")
}

const failures = (
  checks: ReadonlyArray<CheckResult>,
  section: ReadonlyMap<string, string>,
  seed: number
): ReadonlyArray<string> => [
  "### Failed",
  table(
    ["Check", "Clauses", "Expected", "Actual", "Reproduces"],
    checks.map((check) => {
      const { counterexample } = check
      return [
        code(check.id),
        Wording.clausesOf(check, section).map(prose).join(", "),
        counterexample === undefined ? "" : code(counterexample.expected),
        code(counterexample === undefined ? Wording.summary(check) : counterexample.actual),
        counterexample === undefined
          ? ""
          : `${counterexample.reproduced.times}/${counterexample.reproduced.of}`
      ]
    })
  ),
  ...checks.flatMap((check) =>
    check.counterexample === undefined
      ? []
      : details(
          `${code(check.id)}: ${prose(check.law)}`,
          ...counterexampleBlocks(check.counterexample, section, seed)
        )
  )
]

const counterexampleBlocks = (
  counterexample: Counterexample,
  section: ReadonlyMap<string, string>,
  seed: number
): ReadonlyArray<string> => {
  const { actual, clause, expected, script, steps } = counterexample
  const replay = Wording.replayCommand(counterexample)
  return [
    fenced("text", [
      ...steps.map((step, index) => `${index + 1}. ${Wording.step(step)}`),
      `expected: ${printable(expected)}`,
      `actual:   ${printable(actual)}`
    ]),
    `${prose(Wording.history(counterexample, seed))}.`,
    ...(clause === undefined ? [] : [prose(Wording.blame(clause, section))]),
    ...(script === undefined ? [] : [fenced("sh", script.trimEnd().split("\n").map(printable))]),
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

const clauses = ({ clauses }: Report): ReadonlyArray<string> =>
  clauses.length === 0
    ? []
    : details(
        `Clauses: ${clauses.length}`,
        table(
          ["Clause", "Section", "Says", "Status", "Checks"],
          clauses.map(({ checks, says, section, slug, status }) => [
            code(slug),
            prose(section),
            prose(says),
            status,
            checks.map(code).join(", ")
          ])
        )
      )

const triedOver = (report: Report): ReadonlyArray<string> => {
  const tried = Wording.triedOver(report)
  return tried.length === 0
    ? []
    : details(
        `Tried over: ${tried.length}`,
        table(
          ["Check", "Values and pairs of values", "Clauses"],
          tried.map(([check, words]) => [code(check.id), prose(words), check.clauses.map(code).join(", ")])
        )
      )
}

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
