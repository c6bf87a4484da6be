/** `npm run mutants`: runs the suite against a sample of the mutants, and prints the scores and the survivors. */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import * as Campaign from "./Campaign.ts"
import * as Mutants from "./Mutants.ts"

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

if (values.help) console.log(HELP)
else {
  const seed = Number(values.seed)
  const { only } = values
  const mutants =
    only === undefined
      ? Mutants.sample(Number(values.sample), seed)
      : Mutants.mutants.filter(({ id }) => id.includes(only))
  const scored = await Campaign.run({
    mutants,
    seed,
    threads: Math.max(1, Number(values.workers)),
    onResult: ({ id, outcome }, done) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done}/${mutants.length} ${outcome} ${id}`)
    }
  })
  console.log(Campaign.render(scored))
}
