/** Describes a check or a clause without running it. */
import { ambientChecks, checks } from "../checks/Checks.ts"
import { clauses } from "../clauses/Clauses.ts"
import { faults } from "./Faults.ts"

interface Listed {
  readonly id: string
  readonly law: string
  readonly level: string
  readonly profile: string
  readonly needs: ReadonlyArray<string>
  readonly clauses: ReadonlyArray<string>
  readonly on: "port" | "http" | "both"
}

const places = {
  catalogue: "both",
  meter: "both",
  victim: "both",
  http: "http",
  pets: "port",
  limits: "port",
  keys: "port",
  outage: "port"
} as const

/** Every check, in the order of the documentation. */
export const listed: ReadonlyArray<Listed> = [
  ...checks.map(({ clauses: own, id, law, level, needs = [], on, profile }) => ({
    id,
    law,
    level,
    profile,
    needs,
    clauses: own,
    on: places[on]
  })),
  ...ambientChecks.map(({ clauses: own, id, law, level }) => ({
    id,
    law,
    level,
    profile: "every exchange",
    needs: [],
    clauses: own,
    on: "http" as const
  }))
]

const indented = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  ${line}`)

const clauseLines = (slugs: ReadonlyArray<string>): ReadonlyArray<string> =>
  clauses
    .filter(({ slug }) => slugs.includes(slug))
    .map(({ level, says, section, slug }) => `${slug} (${section}, ${level}): ${says}`)

const checkText = (check: Listed): string => {
  const caught = faults.filter(({ killedBy }) => killedBy === check.id)
  return [
    check.id,
    "",
    check.law,
    "",
    `Level ${check.level}, profile ${check.profile}, on ${check.on === "both" ? "ports and HTTP" : check.on}.`,
    ...(check.needs.length === 0 ? [] : [`Needs: ${check.needs.join(", ")}.`]),
    "",
    "Clauses:",
    ...indented(clauseLines(check.clauses)),
    ...(caught.length === 0
      ? []
      : ["", "Faulty backends that it catches:", ...indented(caught.map(({ does }) => does))])
  ].join("\n")
}

const clauseText = (slug: string): string => {
  const clause = clauses.find((one) => one.slug === slug)
  if (clause === undefined) return slug
  const own = listed.filter((check) => check.clauses.includes(slug))
  const unchecked = "unchecked" in clause ? clause.unchecked : "No check covers it yet."
  return [
    `${slug} (${clause.section}, ${clause.level})`,
    "",
    clause.says,
    "",
    ...(own.length === 0
      ? [`Not checked: ${unchecked}`]
      : ["Checks:", ...indented(own.map(({ id, law }) => `${id}: ${law}`))])
  ].join("\n")
}

/** The description of a check id or a clause slug; `undefined` if it is unknown. */
export const explain = (name: string): string | undefined => {
  const check = listed.find(({ id }) => id === name)
  if (check !== undefined) return checkText(check)
  return clauses.some(({ slug }) => slug === name) ? clauseText(name) : undefined
}
