/** Runs the suite against many mutants in several threads, and shows the result. */
import * as Threads from "../Threads.ts"
import type { MutantResult, Task } from "./Hunt.ts"
import type { Mutant } from "./Mutant.ts"
import * as Score from "./Score.ts"

export interface Campaign {
  readonly mutants: ReadonlyArray<Mutant>
  /** The seed of each run of the suite. */
  readonly seed: number
  /** The number of threads; one per core by default. */
  readonly threads?: number
  readonly onResult?: (result: MutantResult, done: number) => void
}

/** Runs the suite against each mutant, and returns the results in the order of the mutants. */
export const run = async ({ mutants, seed, ...options }: Campaign): Promise<ReadonlyArray<Score.Scored>> => {
  const results = await Threads.map<Task, MutantResult>({
    ...options,
    module: new URL("./Hunt.ts", import.meta.url).href,
    inputs: mutants.map(({ id }) => ({ id, seed }))
  })
  return Score.scored(mutants, results)
}

const COLUMNS = ["tried", "equal", "legal", "disputed", "spec", "design", "undecided", "open"] as const

const row = (name: string, score: Score.Score): string =>
  `| ${[name, ...COLUMNS.map((column) => score[column]), Score.percent(score)].join(" | ")} |`

const table = (title: string, rows: ReadonlyArray<readonly [string, Score.Score]>): ReadonlyArray<string> => [
  "",
  `| ${[title, ...COLUMNS, "rejected"].join(" | ")} |`,
  `|---|${COLUMNS.map(() => "---:").join("|")}|---:|`,
  ...rows.map(([name, score]) => row(name, score))
]

/** Renders the scores, and lists the mutants that survive or that are both legal and rejected. */
export const render = (all: ReadonlyArray<Score.Scored>): string => {
  const list = (title: string, isListed: (scored: Score.Scored) => boolean): ReadonlyArray<string> => [
    "",
    `${title}:`,
    "",
    ...all.filter(isListed).map(({ legal, result: { by, changed, id } }) => {
      const reason = [by, legal, `${changed} values changed`].filter((text) => text !== undefined).join("; ")
      return `- ${id} (${reason})`
    })
  ]
  return [
    "# Mutants",
    ...table("all", [["all", Score.of(all)]]),
    ...table(
      "place",
      Score.grouped(all, ({ place }) => place.group)
    ),
    ...table(
      "operator",
      Score.grouped(all, ({ operator }) => operator.id)
    ),
    ...table(
      "condition",
      Score.grouped(all, ({ condition }) => condition.id)
    ),
    ...list("Disputed", Score.isDisputed),
    ...list("Open", Score.isOpen),
    ""
  ].join("\n")
}
