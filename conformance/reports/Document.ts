/** Arranges a report in sections, for the forms that show a document. */
import type { Cause, CheckResult, Report, Status } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

/** A cell of a table: text, ids of checks, or a status. */
export type Cell = string | { readonly ids: ReadonlyArray<string> } | { readonly status: Status }

export type Block =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "list"; readonly items: ReadonlyArray<string> }
  /** Printable lines. */
  | { readonly is: "code"; readonly language: "text" | "sh"; readonly lines: ReadonlyArray<string> }
  | Table

export interface Table {
  readonly is: "table"
  readonly headings: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
}

export interface Section {
  readonly title: string
  /** The check that the section is about; it belongs to the title. */
  readonly check?: string
  /** The status of the checks in it. */
  readonly status?: Status
  /** Whether a reader sees its content at once. */
  readonly isOpen: boolean
  readonly blocks: ReadonlyArray<Block>
}

/** Returns the facts and the counts of a report, which follow the verdict. */
export const head = (report: Report): ReadonlyArray<Block> => {
  const { capabilities, kind, name } = report.subject
  const claims = Wording.claims(report)
  const facts = [
    ["Subject", `${name} (${kind})`],
    ["Level", report.level],
    ["Started", report.startedAt],
    ["Cost", Wording.cost(report)],
    ["Seed", String(report.seed)],
    ...Wording.provenance(report),
    ["Declared", capabilities.join(", ") || "nothing"]
  ]
  const counts = [
    ["planned", report.counts.planned],
    ["decided", report.counts.decided],
    ...Wording.countedStatuses.map(([status, word]) => [word, report.counts[status]])
  ].map((each) => each.map(String))
  return [
    { is: "list", items: facts.map(([term, fact]) => `${term}: ${fact}`) },
    ...(claims === undefined ? [] : [{ is: "text", text: `${claims}.` } as const]),
    {
      is: "table",
      headings: counts.map(([word = ""]) => word),
      rows: [counts.map(([, count = ""]) => count)]
    }
  ]
}

/** Returns the sections, the most important first. */
export const sections = (report: Report): ReadonlyArray<Section> => {
  const withReasons = (status: Status, title: string, isOpen: boolean): ReadonlyArray<Section> => {
    const checks = report.checks.filter((check) => check.status === status)
    return checks.length === 0 ? [] : [{ title, status, isOpen, blocks: [reasons(checks)] }]
  }
  const lines = (title: string, items: ReadonlyArray<string>): ReadonlyArray<Section> =>
    items.length === 0 ? [] : [{ title, isOpen: false, blocks: [{ is: "list", items }] }]
  return [
    ...Wording.causes(report).map(cause),
    ...withReasons("error", "Suite errors", true),
    ...withReasons("inconclusive", "Inconclusive", true),
    ...withReasons("not-applicable", "Not applicable", false),
    ...withReasons("excluded", "Excluded", false),
    { title: "All checks", isOpen: false, blocks: [results(report.checks)] },
    ...lines("Stopped early", report.stopped),
    ...lines("Choices of the subject", report.choices),
    ...lines("Findings of the doctor", report.findings)
  ]
}

/** Describes a cause; the first one is open, because it probably explains the others. */
const cause = ([check, group]: readonly [CheckResult, Cause], index: number): Section => {
  const { id, law, level, section } = check
  const steps = check.counterexample?.steps ?? []
  const code = (language: "text" | "sh", lines: ReadonlyArray<string>): ReadonlyArray<Block> =>
    lines.length === 0 ? [] : [{ is: "code", language, lines }]
  const evidence = Wording.evidence(check).map(([name, text]) => `${`${name}:`.padEnd(9)} ${printable(text)}`)
  return {
    title: index === 0 ? "Probable cause" : "Another finding",
    check: id,
    status: "fail",
    isOpen: index === 0,
    blocks: [
      { is: "text", text: `${law} (${section}, level ${level})` },
      ...code("text", [...Wording.numbered(steps), ...evidence]),
      ...code(
        "sh",
        steps.flatMap(({ curl }) => (curl === undefined ? [] : [printable(curl)]))
      ),
      ...code("sh", Wording.replayCommand(check)),
      ...Wording.consequences(group).map((text) => ({ is: "text", text }) as const)
    ]
  }
}

const reasons = (checks: ReadonlyArray<CheckResult>): Table => ({
  is: "table",
  headings: ["Checks", "Reason"],
  rows: Wording.byReason(checks).map(([reason, group]) => [{ ids: group.map(({ id }) => id) }, reason])
})

const results = (checks: ReadonlyArray<CheckResult>): Table => ({
  is: "table",
  headings: ["Check", "Clause", "Status", "Level", "Profile", "Decided", "Violations"],
  rows: checks.map(({ counterexample, decided, id, law, level, profile, section, status }) => [
    { ids: [id] },
    `${section} ${law}`,
    { status },
    level,
    profile,
    String(decided),
    String(counterexample?.times ?? "")
  ])
})
