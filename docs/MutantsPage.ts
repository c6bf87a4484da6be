/**
 * Runs the suite on the mutants and the outsiders, and generates the page `conformance/mutants.md`, in about ten
 * minutes: `node docs/MutantsPage.ts`.
 */
import { writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type { Outsider } from "../conformance/gallery/outsiders/Outsider.ts"
import { outsiders } from "../conformance/gallery/outsiders/Outsiders.ts"
import * as SelfTest from "../conformance/gallery/SelfTest.ts"
import * as Subjects from "../conformance/gallery/Subjects.ts"
import * as Campaign from "../conformance/mutants/Campaign.ts"
import { mutants, operators, places, sample } from "../conformance/mutants/Mutants.ts"
import * as Score from "../conformance/mutants/Score.ts"
import * as Survival from "../conformance/mutants/Survival.ts"

export const path = new URL("conformance/mutants.md", import.meta.url)

/** The size and the seed of the published sample of mutants; a test tries the first mutants again. */
export const [SAMPLE, SEED] = [600, 2]

/** The number of outsiders that the suite rejected before any check was changed because of them. */
const REJECTED_AT_FIRST = 80

/** An outsider, and whether a run at level `spec` rejected it. */
interface Tried {
  readonly outsider: Outsider
  readonly isRejected: boolean
}

const tryOutsider = (outsider: Outsider): Effect.Effect<Tried, unknown> =>
  SelfTest.examine(Subjects.ofFault(outsider), { level: "spec", seed: SEED }).pipe(
    Effect.map(({ verdict }) => ({ outsider, isRejected: verdict === "not-conformant" })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const cell = (text: string): string => text.replaceAll("|", "\\|")

const scoreRow = ([name, score]: readonly [string, Score.Score]): string =>
  `| ${cell(name)} | ${score.tried} | ${score.equal} | ${score.legal} | ${score.disputed} | ${score.spec} | ${score.design} | ${score.undecided} | ${score.open} | ${Score.percent(score)} |`

const scores = (
  heading: string,
  rows: ReadonlyArray<readonly [string, Score.Score]>
): ReadonlyArray<string> => [
  `| ${heading} | Tried | Equal | Legal | Disputed | Level spec | Level design | Undecided | Open | Rejected |`,
  "|---|---|---|---|---|---|---|---|---|---|",
  ...rows.map(scoreRow)
]

/** Renders a table of operators and places; a cell such as 3/4 means that 3 of 4 faulty mutants were rejected. */
const matrix = (all: ReadonlyArray<Score.Scored>): ReadonlyArray<string> => {
  const groups = [...new Set(places.map(({ group }) => group))]
  const rows = operators.map(({ id }) => {
    const cells = groups.map((group) => {
      const here = all.filter(({ mutant }) => mutant.operator.id === id && mutant.place.group === group)
      const score = Score.of(here)
      const faulty = Score.faulty(score)
      return faulty === 0 ? "" : `${score.spec + score.design}/${faulty}`
    })
    return `| ${id} | ${cells.join(" | ")} |`
  })
  return [`| Operator | ${groups.join(" | ")} |`, `|---|${groups.map(() => "---").join("|")}|`, ...rows]
}

const legalRows = (all: ReadonlyArray<Score.Scored>): ReadonlyArray<string> => {
  const reasons = new Map<string, Array<string>>()
  for (const scored of all) {
    const { legal, result } = scored
    if (legal !== undefined && !Score.isDisputed(scored))
      reasons.set(legal, [...(reasons.get(legal) ?? []), result.id])
  }
  return [...reasons].map(
    ([reason, ids]) => `| ${cell(reason)} | ${ids.length} | ${cell(ids.slice(0, 3).join("; "))} |`
  )
}

/** Returns the beginning of the row of a surviving mutant; a test also searches the page for it. */
export const survivorCells = (id: string, isReached: boolean): string =>
  `| \`${cell(id)}\` | ${isReached ? "yes" : "no"} |`

const survivorRow = ({ mutant, result }: Score.Scored): string => {
  const isReached = result.by === undefined
  return `${survivorCells(result.id, isReached)} ${result.changed} | ${Survival.reasonFor(mutant, isReached)} |`
}

const render = (all: ReadonlyArray<Score.Scored>, tried: ReadonlyArray<Tried>): string => {
  const total = Score.of(all)
  const bySpec = Score.percentOf(total.spec, total)
  const open = all.filter(({ legal, result }) => result.outcome === "survived" && legal === undefined)
  const unreached = open.filter(({ result }) => result.by !== undefined)
  const missed = tried.filter(({ isRejected }) => !isRejected)
  const rejected = tried.length - missed.length
  const share = Math.floor((rejected / tried.length) * 1_000) / 10
  return [
    "# Generated faults",
    "",
    "The gallery contains the faults that its authors thought of. Two other collections measure what else the suite detects:",
    "faults that a program generates, and faults that were written from the contract before their author had read a check.",
    "",
    "## Mutants",
    "",
    `A mutant is an operator applied at a place under a condition, such as \`drop X-RateLimit-Reset · on 404\`. The product of ${operators.length}`,
    `operators and ${places.length} places, under the conditions that fit, has ${mutants.length} mutants. Each wraps the in-process`,
    "service that the gallery uses, so a mutant is a function, not a change to source code. `npm run mutants -- --help` lists the options.",
    "",
    `This page shows ${total.tried} of them, drawn with seed ${SEED}; \`node docs/MutantsPage.ts\` runs them and writes the page. The suite runs`,
    "on each at level spec until the first check fails, and then at level design. The columns:",
    "",
    "- Equal: neither the suite nor a random conversation of 1,500 requests found a difference from the correct server.",
    "- Legal: the contract allows it, for a reason given below, and level spec does not reject it.",
    "- Disputed: it would be legal for a reason given below, but level spec rejects it. Each is listed, with the check that failed.",
    "- Level spec, level design: it breaks the contract, as far as is known, and a check failed at level spec, or only at level design.",
    "- Undecided: no check failed, but the run is not conformant (exit code 2 or 3).",
    "- Open: the run is conformant, and no known reason makes the mutant legal.",
    `- Rejected: the percentage of contract-breaking mutants that one of the levels rejects; level spec alone rejects ${bySpec}.`,
    "",
    ...scores("", [["all", total]]),
    "",
    `Of the ${total.open} open mutants, ${unreached.length} were never reached: no request of the suite met their condition.`,
    "",
    "### By condition",
    "",
    ...scores(
      "Condition",
      Score.grouped(all, ({ condition }) => condition.id)
    ),
    "",
    "### By place",
    "",
    ...scores(
      "Place",
      Score.grouped(all, ({ place }) => place.group)
    ),
    "",
    "### By operator and place",
    "",
    "The number of rejected mutants, of those that are neither equal nor legal.",
    "",
    ...matrix(all),
    "",
    "### Disputed",
    "",
    "| Mutant | Check that failed | Reason why it may be legal |",
    "|---|---|---|",
    ...all
      .filter(Score.isDisputed)
      .map(({ legal = "", result }) => `| ${cell(result.id)} | \`${result.by}\` | ${cell(legal)} |`),
    "",
    "### Legal",
    "",
    "| Reason | Mutants | Examples |",
    "|---|---|---|",
    ...legalRows(all),
    "",
    "### Open survivors",
    "",
    "Reached: whether a request at level spec met the condition at the place. Changed: the number of values that the mutant",
    "changed in the runs at both levels.",
    "",
    "| Mutant | Reached | Changed | Why no check detects it |",
    "|---|---|---|---|",
    ...open.map(survivorRow),
    "",
    "## Outsiders",
    "",
    `${tried.length} faults were written from the text of the contract, before their author had read a check (\`conformance/gallery/outsiders/\`).`,
    "The author knew the gallery's helpers and the first 50 rows of the kill matrix, which are about lists.",
    `The first measurement, which an earlier version of the suite made, rejected ${REJECTED_AT_FIRST}. One run of the current suite at level spec, with seed ${SEED}, rejects ${rejected} of them (${share}%). It reports these as conformant:`,
    "",
    "| Outsider | Section | Behavior | Gap in the contract that may allow it |",
    "|---|---|---|---|",
    ...missed.map(
      ({ outsider: { does, gap = "", id, section } }) => `| \`${id}\` | ${section} | ${cell(does)} | ${gap} |`
    ),
    "",
    "<!-- generated by docs/MutantsPage.ts -->",
    ""
  ].join("\n")
}

if (import.meta.main) {
  const chosen = sample(SAMPLE, SEED)
  const results = await Campaign.run({
    mutants: chosen,
    seed: SEED,
    workers: availableParallelism(),
    onResult: (_result, done) => {
      if (done % 50 === 0) process.stderr.write(`${done} of ${chosen.length}\n`)
    }
  })
  const tried = await Effect.runPromise(Effect.forEach(outsiders, tryOutsider))
  writeFileSync(path, render(Score.scored(chosen, results), tried))
}
