/** Lists implementations in `conformance/implementations.md`: `npm run implementations -- REPORT…`. */
import { readFileSync, writeFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { profiles } from "../conformance/clauses/Profile.ts"
import { Implementation } from "../conformance/config/Configuration.ts"
import * as Counts from "../conformance/engine/Counts.ts"
import { type Report, statuses } from "../conformance/engine/Report.ts"
import * as Selection from "../conformance/engine/Selection.ts"
import { printable } from "../conformance/http/Printable.ts"
import * as Json from "../conformance/reports/Json.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

export const path = new URL("conformance/implementations.md", import.meta.url)

/** Where the checks of a server can be observed. */
const SERVER = new Set(["http", "both"])

/** Whether a report at `level` includes the clauses that were frozen at `frozenLevel`. */
const isIncluded = (level: Report["level"], frozenLevel: string | undefined): boolean =>
  level === "design" || frozenLevel === "spec"

/** Returns how the checks of a report differ from those of its version of the suite; `undefined` if they do not. */
const differenceFrom = (version: string, { checks, level }: Report): string | undefined => {
  const frozen = SuiteVersions.readFrozen(version)
  if (frozen.length === 0) return `the suite has no version ${version}`
  const expected = new Map(
    frozen
      .map((line) => line.split(" "))
      .filter(
        ([kind, , frozenLevel, on = ""]) =>
          kind === "clause" && SERVER.has(on) && isIncluded(level, frozenLevel)
      )
      .map(([, id = "", frozenLevel, , digits]) => [id, `${frozenLevel} ${digits}`])
  )
  const reported = new Map(
    checks.map((check) => [check.id, `${check.level} ${SuiteVersions.digits(check.law)}`])
  )
  const checked = new Set<string>(Selection.checks.map(({ slug }) => slug))
  const different = [...new Set([...expected.keys(), ...reported.keys()])].filter(
    (id) => checked.has(id) && expected.get(id) !== reported.get(id)
  )
  return different.length === 0
    ? undefined
    : `its checks are not those of version ${version} of the suite: ${different.slice(0, 5).join(", ")}`
}

/** Returns the reason why a report cannot be listed; `undefined` if it can. */
const objection = (report: Report): string | undefined => {
  const { checks, claims, counts, implementation, suite, verdict } = report
  if (implementation === undefined) return "it names no implementation (--implementation)"
  const declared = Schema.decodeUnknownResult(Implementation)(implementation)
  if (Result.isFailure(declared)) return `its implementation is invalid: ${declared.failure.message}`
  if (report.subject.kind !== "http") return "it is not about a server"
  if (verdict === "error") return "its run failed"
  const difference = differenceFrom(suite.laws, report)
  if (difference !== undefined) return difference
  const recounted = Counts.of(checks)
  const names = ["planned", "decided", ...statuses] as const
  if (names.some((name) => counts[name] !== recounted[name])) return "its counts do not match its checks"
  if (verdict !== Counts.verdictOf(recounted)) return "its verdict does not match its checks"
  if (JSON.stringify(claims) !== JSON.stringify(Counts.claims(checks))) {
    return "its claims do not match its checks"
  }
  return undefined
}

/** Parses a submitted report; throws an error with the reason if it cannot be listed. */
export const parseSubmission = (text: string): Report => {
  const report = Result.getOrThrow(Json.parse(text))
  const reason = objection(report)
  if (reason !== undefined) throw new Error(reason)
  return report
}

/** Characters with a meaning in Markdown, in its tables, in HTML or in automatic links of GitHub. */
const special = /[!"#$%&'*+<=>@[\\\]^_`{|}~]|:(?=\/)|(?<=www)\./gi

/** Escapes text so that a cell of a table shows it literally. */
const prose = (text: string): string =>
  printable(text).replace(special, (character) => `&#${character.charCodeAt(0)};`)

const contactOf = (contact: string | undefined): string => {
  if (contact === undefined) return ""
  const address = contact.startsWith("https://") ? contact : `mailto:${contact}`
  // Encodes the characters that end a link in Markdown.
  return `[${prose(contact)}](<${address.replaceAll(/[<>\\|]/g, (character) => encodeURIComponent(character))}>)`
}

/** Returns a version as Markdown; version numbers need no escapes. */
const versionOf = (text = ""): string => (/^[\d.]+$/.test(text) ? text : prose(text))

const verdicts = {
  conformant: "conformant",
  "not-conformant": "**not conformant**",
  inconclusive: "inconclusive",
  "selection-passed": "only a selection",
  error: "error"
} as const

/** Returns the row of a report. */
export const row = ({ claims, contract, counts, implementation, level, suite, verdict }: Report): string =>
  `| ${[
    prose(implementation?.name ?? ""),
    versionOf(implementation?.version),
    contactOf(implementation?.contact),
    verdicts[verdict],
    profiles.filter((profile) => claims.includes(profile)).join(", "),
    level,
    `${counts.pass} of ${counts.planned}`,
    versionOf(contract.version),
    versionOf(suite.laws)
  ].join(" | ")} |`

/** The cells of each row in a page, without the heading. */
export const rowsOf = (page: string): ReadonlyArray<string> =>
  page.split("\n").filter((line) => /^\| (?!Implementation \|)/.test(line))

const nameOf = (line: string): string => line.split(" | ")[0] ?? ""

/** Returns a page with the row of a report, which replaces the row with the same name. */
export const withReport = (page: string, report: Report): string => {
  const added = row(report)
  const before = rowsOf(page)
  const after = [...before.filter((line) => nameOf(line) !== nameOf(added)), added].toSorted()
  const [start = "", end = ""] = page.split(/(?<=^\|[-|]+\|\n)(?:\| .*\n)*/m)
  return `${start}${after.map((line) => `${line}\n`).join("")}${end}`
}

if (import.meta.main) {
  let page = readFileSync(path, "utf8")
  for (const file of process.argv.slice(2))
    page = withReport(page, parseSubmission(readFileSync(file, "utf8")))
  writeFileSync(path, page)
}
