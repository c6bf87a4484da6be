/** The page `conformance/clauses.md`, made from the clauses, the checks and the gallery: `node docs/ClausesPage.ts`. */
import { writeFileSync } from "node:fs"
import { ambientChecks, checks } from "../conformance/checks/Checks.ts"
import type { Clause } from "../conformance/clauses/Clause.ts"
import { clauses } from "../conformance/clauses/Clauses.ts"
import { faults } from "../conformance/gallery/Faults.ts"

export const path = new URL("conformance/clauses.md", import.meta.url)

const known = [...checks, ...ambientChecks]

const cell = (text: string): string => text.replaceAll("|", "\\|")

const row = ({ level, observable, says, section, slug, unchecked }: Clause): string => {
  const own = known.filter((check) => check.clauses.some((name) => name === slug)).map(({ id }) => id)
  const caught = faults.filter(({ killedBy }) => own.includes(killedBy)).length
  const covered = own.length === 0 ? `none: ${unchecked ?? ""}` : own.map((id) => `\`${id}\``).join(", ")
  const cells = [`\`${slug}\``, section, level, observable, says, covered, String(caught)]
  return `| ${cells.map(cell).join(" | ")} |`
}

export const render = (): string => {
  const all: ReadonlyArray<Clause> = clauses
  const covered = all.filter(({ slug }) => known.some((check) => check.clauses.some((own) => own === slug)))
  return [
    "# Clauses",
    "",
    "Every obligation of the contract (level spec), and every decision of this project on points that the contract leaves open (level",
    "design), with the checks that cover it and the number of faulty backends that these checks catch. Slugs and ids of",
    "checks never change their meaning.",
    "",
    `${all.length} clauses; ${known.length} checks cover ${covered.length} of them, and ${faults.length} faulty backends test the checks.`,
    "",
    "| Clause | § | Level | Observable at | Sentence | Checks | Faults caught |",
    "|---|---|---|---|---|---|---|",
    ...all.map(row),
    "",
    "<!-- made by docs/ClausesPage.ts -->",
    ""
  ].join("\n")
}

if (import.meta.main) writeFileSync(path, render())
