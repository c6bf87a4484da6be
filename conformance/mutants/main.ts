/** `npm run mutants`: runs the suite against a sample of the mutants, and prints the survivors and the scores. */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import * as Campaign from "./Campaign.ts"
import * as Mutants from "./Mutants.ts"
import * as Score from "./Score.ts"

const HELP = `npm run mutants -- [--sample N] [--seed S] [--only TEXT] [--workers W]

  --sample N   number of the ${Mutants.mutants.length} mutants to try; 300 by default
  --seed S     seed of the sample and of the runs; 1 by default
  --only TEXT  all mutants whose id contains the text, instead of a sample
  --workers W  number of threads; one per core by default`

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    workers: { type: "string", default: String(availableParallelism()) },
    help: { type: "boolean", default: false }
  }
})

const COLUMNS = ["tried", "equal", "legal", "disputed", "spec", "design", "undecided", "open"] as const

const line = ([name, score]: readonly [string, Score.Score]): string =>
  `${name.padEnd(44)}${COLUMNS.map((column) => String(score[column]).padStart(column.length + 2)).join("")}  ${Score.percent(score)}`

const table = (title: string, rows: ReadonlyArray<readonly [string, Score.Score]>): string =>
  [
    `\n${title.padEnd(44)}${COLUMNS.map((column) => `  ${column}`).join("")}  rejected`,
    ...rows.map(line)
  ].join("\n")

if (values.help) console.log(HELP)
else {
  const seed = Number(values.seed)
  const { only } = values
  const chosen =
    only === undefined
      ? Mutants.sample(Number(values.sample), seed)
      : Mutants.mutants.filter(({ id }) => id.includes(only))
  const results = await Campaign.run({
    mutants: chosen,
    seed,
    workers: Math.max(1, Number(values.workers)),
    onResult: ({ id, outcome }, done) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done}/${chosen.length} ${outcome} ${id}`)
    }
  })
  const all = Score.scored(chosen, results)
  for (const scored of all) {
    const { legal, result } = scored
    const by = result.by === undefined ? "" : ` (${result.by})`
    if (legal !== undefined)
      console.log(`${Score.isDisputed(scored) ? "disputed" : "legal"} ${result.id}${by}`)
    else if (result.outcome === "survived") console.log(`open ${result.id}${by}`)
  }
  console.log(
    table(
      "place",
      Score.grouped(all, ({ place }) => place.group)
    )
  )
  console.log(
    table(
      "operator",
      Score.grouped(all, ({ operator }) => operator.id)
    )
  )
  console.log(
    table(
      "condition",
      Score.grouped(all, ({ condition }) => condition.id)
    )
  )
  console.log(table("all", [["", Score.of(all)]]))
}
