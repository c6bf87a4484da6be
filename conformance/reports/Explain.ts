/** Describes checks and clauses, without running the suite. */
import { ambientChecks, checks } from "../checks/Checks.ts"
import { clauses } from "../clauses/Clauses.ts"
import type { Shape } from "../dimensions/Product.ts"
import { type Capability, descriptions } from "../evaluation/Capability.ts"

interface Listed {
  readonly id: string
  readonly law: string
  readonly level: string
  readonly profile: string
  readonly needs: ReadonlyArray<Capability>
  readonly clauses: ReadonlyArray<string>
  readonly on: "port" | "http" | "both"
  readonly product: Shape | undefined
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
  ...checks.map(({ clauses: slugs, id, law, level, needs = [], on, product, profile }) => ({
    id,
    law,
    level,
    profile,
    needs,
    clauses: slugs,
    on: places[on],
    product
  })),
  ...ambientChecks.map(({ clauses: slugs, id, law, level }) => ({
    id,
    law,
    level,
    profile: "every exchange",
    needs: [],
    clauses: slugs,
    on: "http" as const,
    product: undefined
  }))
]

const indented = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  ${line}`)

const clauseLines = (slugs: ReadonlyArray<string>): ReadonlyArray<string> =>
  clauses
    .filter(({ slug }) => slugs.includes(slug))
    .map(({ level, says, section, slug }) => `${slug} (${section}, ${level}): ${says}`)

/** Lists the dimensions over which a law is tried, with their values. */
const productLines = ({ pairs, values }: Shape): ReadonlyArray<string> => [
  `Tried over (each of ${pairs} pairs of values, as far as the subject accepts it):`,
  ...indented(Object.entries(values).map(([name, all]) => `${name} (${all.length}): ${all.join("; ")}`))
]

/** Lists the dimensions by name, with the number of their values. */
const triedOver = ({ pairs, values }: Shape): string =>
  `tried over ${Object.entries(values)
    .map(([name, all]) => `${name} (${all.length})`)
    .join(", ")}, ${pairs} pairs`

const checkText = (check: Listed): string =>
  [
    check.id,
    "",
    check.law,
    "",
    `Level ${check.level}, profile ${check.profile}, on ${check.on === "both" ? "ports and HTTP" : check.on}.`,
    ...(check.needs.length === 0
      ? []
      : [`Needs ${check.needs.map((need) => descriptions[need]).join(", ")}.`]),
    "",
    "Clauses:",
    ...indented(clauseLines(check.clauses)),
    ...(check.product === undefined ? [] : ["", ...productLines(check.product)])
  ].join("\n")

const clauseText = (slug: string): string => {
  const clause = clauses.find((candidate) => candidate.slug === slug)
  if (clause === undefined) return slug
  const coveringChecks = listed.filter((check) => check.clauses.includes(slug))
  const unchecked = "unchecked" in clause ? clause.unchecked : "No check covers it yet."
  return [
    `${slug} (${clause.section}, ${clause.level})`,
    "",
    clause.says,
    "",
    ...(coveringChecks.length === 0
      ? [`Not checked: ${unchecked}`]
      : [
          "Checks:",
          ...indented(
            coveringChecks.flatMap(({ id, law, product }) => [
              `${id}: ${law}`,
              ...(product === undefined ? [] : [`  ${triedOver(product)}`])
            ])
          )
        ])
  ].join("\n")
}

/** Returns the description for a check id or a clause slug; `undefined` if the name is unknown. */
export const explain = (name: string): string | undefined => {
  const check = listed.find(({ id }) => id === name)
  if (check !== undefined) return checkText(check)
  return clauses.some(({ slug }) => slug === name) ? clauseText(name) : undefined
}
