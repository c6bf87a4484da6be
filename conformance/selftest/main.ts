/** `npm run self-test`: prints what the model finds in the traffic of the programs with faulty and correct servers. */
import { parseArgs } from "node:util"
import { faults } from "./Faults.ts"
import type * as Hunt from "./Hunt.ts"
import * as Mutants from "./mutants/Mutants.ts"
import * as Score from "./mutants/Score.ts"
import * as Variants from "./plain/Variants.ts"
import * as Threads from "./Threads.ts"

const HELP = `npm run self-test -- [KIND] [flags]

  KIND          reference, ports, fault, mutant or variant; reference by default
  --level L     spec, design or clause: the level of the clause that a fault breaks; spec by default
  --seed N      seed of the runs, of the sample of mutants and of the drawn variants; 1 by default
  --id TEXT     only those whose id contains the text
  --sample N    number of the ${Mutants.mutants.length} mutants; 300 by default
  --all         print all violations, and go on after the first
  --threads N   number of threads; 1 by default

Prints the scores of mutants as tables. Exits with 1 if a fault is missed or a correct server is rejected.`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    level: { type: "string", default: "spec" },
    seed: { type: "string", default: "1" },
    id: { type: "string", default: "" },
    sample: { type: "string", default: "300" },
    all: { type: "boolean", default: false },
    threads: { type: "string", default: "1" },
    help: { type: "boolean", default: false }
  }
})
const kinds = ["reference", "ports", "fault", "mutant", "variant"] as const
const kind = kinds.find((each) => each === (positionals[0] ?? "reference"))
const isGood = kind !== "fault" && kind !== "mutant"
const seed = Number(values.seed)
const level = (["spec", "design", "clause"] as const).find((each) => each === values.level) ?? "spec"

const idsOf = (given: Hunt.Task["kind"]): ReadonlyArray<string> => {
  switch (given) {
    case "reference":
    case "ports":
      return [given]
    case "fault":
      return faults.map(({ id }) => id)
    case "mutant": {
      const sample = Mutants.sample(Number(values.sample), seed, level === "design" ? "design" : "spec")
      return (values.id === "" ? sample : Mutants.mutants).map(({ id }) => id)
    }
    case "variant":
      return Variants.of(seed).map(({ id }) => id)
  }
}

const scoreOf = (result: Hunt.Result): Score.Scored | undefined => {
  const mutant = kind === "mutant" ? Mutants.byId.get(result.id) : undefined
  return mutant && Score.of(mutant, result, level)
}

const isWrong = (result: Hunt.Result): boolean => {
  const outcome = scoreOf(result)?.outcome
  return outcome === undefined
    ? result.found.length > 0 === isGood
    : outcome === "missed" || outcome === "disputed"
}

const print = (result: Hunt.Result): void => {
  const { changed, found, id, ms, requests, stopped } = result
  const mark = isWrong(result) ? "WRONG" : (scoreOf(result)?.outcome ?? "ok").padEnd(5)
  console.log(`${mark} ${id} (${requests} requests, ${ms} ms${changed === 0 ? "" : `, changed ${changed}`})`)
  for (const each of found.slice(0, values.all || isGood ? 20 : 1)) console.log(`      ${each.slice(0, 600)}`)
  for (const each of values.all || isGood ? stopped : []) console.log(`      stopped ${each}`)
}

const main = async (chosen: Hunt.Task["kind"]): Promise<void> => {
  const results = await Threads.map<Hunt.Task, Hunt.Result>({
    module: new URL("./Hunt.ts", import.meta.url).href,
    inputs: idsOf(chosen)
      .filter((id) => id.includes(values.id))
      .map((id) => ({
        ...{ kind: chosen, id, seed, level },
        isBrief: !isGood && !values.all
      })),
    threads: Number(values.threads),
    onResult: print
  })
  if (kind === "mutant") console.log(Score.render(results.flatMap((result) => scoreOf(result) ?? [])))
  const wrong = results.filter(isWrong).length
  console.log(`${results.length - wrong} of ${results.length} right`)
  process.exitCode = wrong === 0 ? 0 : 1
}

if (values.help || kind === undefined) console.log(HELP)
else await main(kind)
