/** `npm run mutants`: hunts a sample of the mutants, and prints the scores and the missed ones. */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import type * as Hunt from "../Hunt.ts"
import * as Threads from "../Threads.ts"
import * as Mutants from "./Mutants.ts"
import * as Score from "./Score.ts"

const HELP = `npm run mutants -- [--sample N] [--seed S] [--level L] [--only TEXT] [--workers W]

  --sample N   number of the ${Mutants.mutants.length} mutants to try; 300 by default
  --seed S     seed of the sample and of the runs; 1 by default
  --level L    spec or design; spec by default
  --only TEXT  all mutants whose id contains the text, instead of a sample
  --workers W  number of threads; one per core by default`

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    level: { type: "string", default: "spec" },
    only: { type: "string" },
    workers: { type: "string", default: String(availableParallelism()) },
    help: { type: "boolean", default: false }
  }
})

const main = async (): Promise<void> => {
  const seed = Number(values.seed)
  const { only } = values
  const mutants =
    only === undefined
      ? Mutants.sample(Number(values.sample), seed)
      : Mutants.mutants.filter(({ id }) => id.includes(only))
  const results = await Threads.map<Hunt.Task, Hunt.Result>({
    module: new URL("../Hunt.ts", import.meta.url).href,
    threads: Math.max(1, Number(values.workers)),
    inputs: mutants.map(({ id }) => ({
      kind: "mutant",
      id,
      seed,
      level: values.level === "design" ? "design" : "spec",
      isBrief: true
    })),
    onResult: ({ found, id }, done) => {
      if (!process.stderr.isTTY) return
      process.stderr.write(
        `\r\u001b[K${done}/${mutants.length} ${found.length > 0 ? "found" : "not found"} ${id}`
      )
    }
  })
  console.log(
    Score.render(
      mutants.flatMap((mutant, index) => {
        const result = results[index]
        return result === undefined ? [] : [Score.of(mutant, result)]
      })
    )
  )
}

if (values.help) console.log(HELP)
else await main()
