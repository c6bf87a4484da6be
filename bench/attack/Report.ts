/** Formats the report of a run: lines for the terminal, and the table in docs/security.md. */
import type { Finding } from "./Finding.ts"
import type { Scenario } from "./Scenario.ts"

/** The findings of a scenario on a database. */
export interface Result {
  readonly scenario: Pick<Scenario, "name" | "description">
  readonly database: string
  readonly findings: ReadonlyArray<Finding>
}

/** Formats one line per figure: verdict, scenario, database, figure and bound. */
export const lines = ({ database, findings, scenario }: Result): string =>
  findings
    .map(({ bound, figure, isWithinBound, name }) =>
      [
        isWithinBound ? "pass" : "FAIL",
        scenario.name.padEnd(18),
        database.padEnd(10),
        `${name}: ${figure}${bound === "" ? "" : ` (${bound})`}`
      ].join("  ")
    )
    .join("\n")

/** Whether all figures of a scenario are within their bounds. */
export const hasPassed = ({ findings }: Result): boolean =>
  findings.every(({ isWithinBound }) => isWithinBound)

/** Whether a scenario failed only in figures that depend on machine load. */
export const mayBeDueToLoad = (result: Result): boolean =>
  !hasPassed(result) &&
  result.findings.every(({ dependsOnLoad, isWithinBound }) => isWithinBound || dependsOnLoad)

/** Formats all results as a Markdown table. */
export const table = (results: ReadonlyArray<Result>): string =>
  [
    "| Scenario | Database | Figures (bound) |",
    "|---|---|---|",
    ...results.map(({ database, findings, scenario }) => {
      const figures = findings.map(({ bound, figure, isWithinBound, name }) => {
        const text = `${name}: ${figure}${bound === "" ? "" : ` (${bound})`}`
        return isWithinBound ? text : `**${text}**`
      })
      return `| \`${scenario.name}\`: ${cell(scenario.description)} | ${database} | ${cell(figures.join("; "))} |`
    })
  ].join("\n")

const cell = (text: string): string => text.replaceAll("|", "\\|")

const BEGIN = "<!-- attack: written by npm run attack -- --write -->"
const END = "<!-- attack: end -->"

/** Replaces the table between the markers of a page. */
export const insertTable = (page: string, content: string): string => {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error("the page has no markers for the table")
  return `${page.slice(0, begin)}${BEGIN}\n\n${content}\n\n${page.slice(end)}`
}
