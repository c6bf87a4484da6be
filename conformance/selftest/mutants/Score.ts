/** Counts hunted mutants by result, and renders the scores. */
import type { Result } from "../Hunt.ts"
import * as Legal from "./Legal.ts"
import type { Mutant } from "./Mutant.ts"

/**
 * `found`: the model finds a violation. `missed`: it finds none, although no rule declares the mutant legal. `equal`: no
 * response differs from that of the correct server, also in a long random conversation. `disputed`: legal by a rule, but the model finds a
 * violation; then either the rule or the model is wrong.
 */
export type Outcome = "found" | "missed" | "equal" | "legal" | "disputed"

export interface Scored {
  readonly mutant: Mutant
  readonly outcome: Outcome
  /** The first violation, or why the mutant is legal. */
  readonly because: string
}

/** Scores a mutant; what the contract leaves open is legal only at level spec. */
export const of = (
  mutant: Mutant,
  { changed, found: [first] }: Pick<Result, "changed" | "found">,
  level: Result["level"] = "spec"
): Scored => {
  const reason = level === "design" ? undefined : Legal.reasonFor(mutant)
  const because = first ?? reason ?? ""
  if (first !== undefined) return { mutant, outcome: reason === undefined ? "found" : "disputed", because }
  return { mutant, outcome: changed === 0 ? "equal" : reason === undefined ? "missed" : "legal", because }
}

const outcomes = ["found", "missed", "equal", "legal", "disputed"] as const

const count = (all: ReadonlyArray<Scored>, outcome: Outcome): number =>
  all.filter((scored) => scored.outcome === outcome).length

/** Returns the share of the faulty mutants that the model finds, from 0 to 1; 1 if there are none. */
export const share = (all: ReadonlyArray<Scored>): number => {
  const [found, missed] = [count(all, "found"), count(all, "missed")]
  return found + missed === 0 ? 1 : found / (found + missed)
}

const row = (name: string, all: ReadonlyArray<Scored>): string => {
  const counts = outcomes.map((outcome) => count(all, outcome))
  return `| ${[name, all.length, ...counts, `${Math.floor(share(all) * 1_000) / 10}%`].join(" | ")} |`
}

const table = (
  title: string,
  all: ReadonlyArray<Scored>,
  by: (mutant: Mutant) => string
): ReadonlyArray<string> => [
  "",
  `| ${[title, "tried", ...outcomes, "share"].join(" | ")} |`,
  `|---|${"---:|".repeat(outcomes.length + 2)}`,
  ...[...new Set(all.map(({ mutant }) => by(mutant)))].map((name) =>
    row(
      name,
      all.filter(({ mutant }) => by(mutant) === name)
    )
  )
]

const list = (title: string, all: ReadonlyArray<Scored>, outcome: Outcome): ReadonlyArray<string> => [
  "",
  `${title}:`,
  "",
  ...all
    .filter((scored) => scored.outcome === outcome)
    .map(({ because, mutant }) => `- ${mutant.id}${because === "" ? "" : ` (${because.slice(0, 300)})`}`)
]

/** Renders the scores by place, operator and condition, and lists the missed and the disputed mutants. */
export const render = (all: ReadonlyArray<Scored>): string =>
  [
    "# Mutants",
    ...table("all", all, () => "all"),
    ...table("place", all, ({ place }) => place.group),
    ...table("operator", all, ({ operator }) => operator.id),
    ...table("condition", all, ({ condition }) => condition.id),
    ...list("Missed", all, "missed"),
    ...list("Disputed", all, "disputed"),
    ""
  ].join("\n")
