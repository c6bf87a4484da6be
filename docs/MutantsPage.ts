/** The page `conformance/mutants.md`: `node docs/MutantsPage.ts` hunts the mutants and the outsiders, in about ten minutes. */
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

export const path = new URL("conformance/mutants.md", import.meta.url)

/** The published selection; tests try its beginning again. */
export const [SAMPLE, SEED] = [600, 1]

/** How many outsiders the suite rejected before any check was changed because of them. */
const FIRST = 80

/** An outsider, and the verdict of a run at level spec. */
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
  `| ${cell(name)} | ${score.tried} | ${score.spec} | ${score.design} | ${score.undecided} | ${score.equal} | ${score.legal} | ${score.open} | ${Score.percent(score)} |`

const scores = (
  first: string,
  rows: ReadonlyArray<readonly [string, Score.Score]>
): ReadonlyArray<string> => [
  `| ${first} | Tried | Level spec | Level design | Undecided | Equal | Legal | Open | Rejected |`,
  "|---|---|---|---|---|---|---|---|---|",
  ...rows.map(scoreRow)
]

/** Operators in rows and places in columns: rejected of those that are neither equal nor legal. */
const matrix = (all: ReadonlyArray<Score.Scored>): ReadonlyArray<string> => {
  const groups = [...new Set(places.map(({ group }) => group))]
  const rows = operators.map(({ id }) => {
    const cells = groups.map((group) => {
      const here = all.filter(({ mutant }) => mutant.operator.id === id && mutant.place.group === group)
      const score = Score.of(here)
      const faulty = Score.faulty(score)
      return faulty === 0 ? "" : `${faulty - score.open}/${faulty}`
    })
    return `| ${id} | ${cells.join(" | ")} |`
  })
  return [`| Operator | ${groups.join(" | ")} |`, `|---|${groups.map(() => "---").join("|")}|`, ...rows]
}

const legalRows = (all: ReadonlyArray<Score.Scored>): ReadonlyArray<string> => {
  const reasons = new Map<string, Array<string>>()
  for (const { hunted, legal } of all) {
    if (legal !== undefined) reasons.set(legal, [...(reasons.get(legal) ?? []), hunted.id])
  }
  return [...reasons].map(
    ([reason, ids]) => `| ${cell(reason)} | ${ids.length} | ${cell(ids.slice(0, 3).join("; "))} |`
  )
}

/** The line of a survivor, which a test looks for. */
export const survivorLine = (id: string, isReached: boolean): string =>
  `- \`${id}\`${isReached ? "" : " (not reached)"}`

const render = (all: ReadonlyArray<Score.Scored>, tried: ReadonlyArray<Tried>): string => {
  const total = Score.of(all)
  const bySpec = Score.percentOf(total.spec, total)
  const open = all.filter(({ hunted, legal }) => hunted.outcome === "survived" && legal === undefined)
  const unreached = open.filter(({ hunted }) => hunted.by !== undefined)
  const missed = tried.filter(({ isRejected }) => !isRejected)
  const rejected = tried.length - missed.length
  const share = Math.floor((rejected / tried.length) * 1_000) / 10
  return [
    "# Generated faults",
    "",
    "The gallery holds the faults that its authors thought of. Two other collections measure how far the suite gets beyond them:",
    "faults that a program writes, and faults that were written from the contract before their author had read a check.",
    "",
    "## Mutants",
    "",
    `A mutant is an operator at a place under a condition, such as \`drop X-RateLimit-Reset · on 404\`. The product of ${operators.length}`,
    `operators and ${places.length} places, under the conditions that fit, has ${mutants.length} mutants. Each is a wrapper of the in-process`,
    "service that the gallery uses, so that a mutant is a function and no change of a source. `npm run mutants -- --help` lists what can be run.",
    "",
    `This page shows ${total.tried} of them, drawn with seed ${SEED}. Each runs the suite at level spec until the first check fails, and`,
    "then at level design. The columns:",
    "",
    "- Level spec, level design: a check failed, at level spec or only at level design.",
    "- Undecided: no check failed, but the run is not conformant (exit code 2 or 3).",
    "- Equal: neither the suite nor a random conversation of 1,500 requests met a difference from the correct server.",
    "- Legal: conformant, and the contract allows it, for the reason below.",
    "- Open: conformant, and not explained.",
    `- Rejected: the part of the mutants that are neither equal nor legal which the suite rejects. Level spec alone rejects ${bySpec}; some of`,
    "  the mutants that only level design rejects keep the contract.",
    "",
    ...scores("", [["all", total]]),
    "",
    `Of the ${total.open} open ones, ${unreached.length} were never met by the run: no request of the suite was in the circumstances of their condition.`,
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
    "Rejected of those that are neither equal nor legal.",
    "",
    ...matrix(all),
    "",
    "### Legal survivors",
    "",
    "| Reason | Mutants | Such as |",
    "|---|---|---|",
    ...legalRows(all),
    "",
    "### Open survivors",
    "",
    ...open.map(({ hunted }) => survivorLine(hunted.id, hunted.by === undefined)),
    "",
    "## Outsiders",
    "",
    `${tried.length} faults were written from the text of the contract, before their author had read a check (\`conformance/gallery/outsiders/\`).`,
    "The author knew the gallery's helpers and the first 50 rows of the kill matrix, which are about lists.",
    `The first measurement rejected ${FIRST}. One run of today's suite at level spec, with seed ${SEED}, rejects ${rejected} of them (${share} %). It calls these conformant:`,
    "",
    "| Outsider | Section | Behaviour | Gap of the contract that may allow it |",
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
    onResult: (_hunted, done) => {
      if (done % 50 === 0) process.stderr.write(`${done} of ${chosen.length}\n`)
    }
  })
  const tried = await Effect.runPromise(Effect.forEach(outsiders, tryOutsider))
  writeFileSync(path, render(Score.scored(chosen, results), tried))
}
