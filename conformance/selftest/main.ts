/** `npm run self-test`: prints what the model finds in the traffic of the programs with faulty and correct servers. */
import { parseArgs } from "node:util"
import { faults } from "./Faults.ts"
import * as Hunt from "./Hunt.ts"
import * as Legal from "./mutants/Legal.ts"
import * as Mutants from "./mutants/Mutants.ts"
import { outsiders } from "./outsiders/Outsiders.ts"
import * as Variants from "./plain/Variants.ts"
import * as Threads from "./Threads.ts"

const HELP = `npm run self-test -- [KIND] [flags]

  KIND          reference, fault, outsider, mutant or variant; reference by default
  --level L     spec, design or clause: the level of the clause that a fault breaks; spec by default
  --seed N      seed of the runs, of the sample of mutants and of the drawn variants; 1 by default
  --id TEXT     only those whose id contains the text
  --sample N    number of mutants; 600 by default
  --by HOW      hunt mutants only in a recording or only on a server
  --only NAME   only the programs whose name begins with this
  --all         print all violations, and go on after the first
  --reduce      print the fewest choices with which a variant is rejected
  --threads N   number of threads; 1 by default

Exits with 1 if a fault is missed or a correct server is rejected.`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    level: { type: "string", default: "spec" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    id: { type: "string", default: "" },
    sample: { type: "string", default: "600" },
    by: { type: "string" },
    all: { type: "boolean", default: false },
    reduce: { type: "boolean", default: false },
    threads: { type: "string", default: "1" },
    help: { type: "boolean", default: false }
  }
})
const [kind = "reference"] = positionals
const seed = Number(values.seed)
const sample = () => (values.id === "" ? Mutants.sample(Number(values.sample), seed) : Mutants.mutants)
const legal = new Map<string, string>()

const idsOf = (): ReadonlyArray<string> => {
  switch (kind) {
    case "reference":
      return ["reference"]
    case "fault":
      return faults.map(({ id }) => id)
    case "outsider":
      return outsiders.map(({ id }) => id)
    case "mutant":
      return sample().map((mutant) => {
        const reason = Legal.reasonFor(mutant)
        if (reason !== undefined) legal.set(mutant.id, reason)
        return mutant.id
      })
    case "variant":
      return Variants.of(seed).map(({ id }) => id)
    default:
      throw new Error(HELP)
  }
}

const isGood = kind === "reference" || kind === "variant"
const levels = ["spec", "design", "clause"] as const
const hows = ["recording", "server"] as const

const main = async (): Promise<void> => {
  const inputs = idsOf()
    .filter((id) => id.includes(values.id))
    .map(
      (id): Hunt.Task => ({
        kind: kind === "outsider" ? "fault" : (kind as Hunt.Task["kind"]), // `idsOf` knows it
        id,
        seed,
        level: levels.find((level) => level === values.level) ?? "spec",
        isBrief: !isGood && !values.all,
        by: hows.find((how) => how === values.by),
        only: values.only
      })
    )
  const results = await Threads.map<Hunt.Task, Hunt.Result>({
    module: new URL("./Hunt.ts", import.meta.url).href,
    inputs,
    threads: Number(values.threads),
    onResult: ({ changed, found, id, ms, requests, stopped }) => {
      const isRight = found.length > 0 !== isGood
      const mark = isRight ? "ok   " : legal.has(id) ? "legal" : isEqual(changed) ? "equal" : "WRONG"
      const effect = kind === "mutant" ? `, changed ${changed}` : ""
      console.log(`${mark} ${id} (${requests} requests, ${ms} ms${effect})`)
      for (const each of found.slice(0, values.all || isGood ? 20 : 1))
        console.log(`      ${each.slice(0, 600)}`)
      for (const each of values.all || isGood ? stopped : []) console.log(`      stopped ${each}`)
      if (isRight && legal.has(id)) console.log(`      disputed: ${legal.get(id)}`)
    }
  })
  if (values.reduce && kind === "variant") {
    for (const result of results.filter(({ clauses }) => clauses.length > 0)) {
      for (const clause of result.clauses) {
        console.log(`${result.id} ${clause}: ${await Hunt.reduce(result, clause)}`)
      }
    }
  }
  const faulty = results.filter(
    ({ changed, found, id }) => found.length > 0 || !(legal.has(id) || isEqual(changed))
  )
  const right = faulty.filter(({ found }) => found.length > 0 !== isGood)
  console.log(`${right.length} of ${faulty.length} right; ${results.length - faulty.length} legal or equal`)
  process.exitCode = right.length === faulty.length ? 0 : 1
}

/** Whether a mutant changed nothing, so that it is the correct server. */
const isEqual = (changed: number): boolean => kind === "mutant" && changed === 0

if (values.help) console.log(HELP)
else await main()
