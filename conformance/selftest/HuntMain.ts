/**
 * `node conformance/selftest/HuntMain.ts KIND [--level L] [--seed N] [--only PROGRAM] [--id TEXT] [--sample N] [--all]`:
 * prints what the model says of the programs' traffic with faulty or correct servers.
 */
import { parseArgs } from "node:util"
import * as ConformingVariants from "./ConformingVariants.ts"
import { faults } from "./Faults.ts"
import type { Result, Task } from "./Hunt.ts"
import * as Mutants from "./mutants/Mutants.ts"
import * as Threads from "./Threads.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    level: { type: "string", default: "spec" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    id: { type: "string", default: "" },
    sample: { type: "string", default: "600" },
    all: { type: "boolean", default: false },
    threads: { type: "string", default: "1" }
  }
})
const [kind = "reference"] = positionals
const level = values.level === "design" ? "design" : "spec"
const ids: { readonly [kind: string]: () => ReadonlyArray<string> } = {
  reference: () => ["reference"],
  fault: () => faults.filter(({ where }) => where.at === "http").map(({ id }) => id),
  mutant: () => Mutants.sample(Number(values.sample), 1).map(({ id }) => id),
  variant: () => ConformingVariants.conformingVariants.map(({ id }) => id)
}
const isGood = kind === "reference" || kind === "variant"
const inputs = (ids[kind]?.() ?? [])
  .filter((id) => id.includes(values.id))
  .map(
    (id): Task => ({
      kind: kind as Task["kind"],
      id,
      seed: Number(values.seed),
      level,
      isBrief: !isGood && !values.all,
      only: values.only
    })
  )
const results = await Threads.map<Task, Result>({
  module: new URL("./Hunt.ts", import.meta.url).href,
  inputs,
  threads: Number(values.threads),
  onResult: ({ changed, found, id, ms, requests, stopped }) => {
    const isRight = found.length > 0 !== isGood
    console.log(`${isRight ? "ok   " : "WRONG"} ${id} (${requests} requests, ${ms} ms, changed ${changed})`)
    for (const each of found.slice(0, values.all || isGood ? 20 : 1))
      console.log(`      ${each.slice(0, 600)}`)
    for (const each of values.all || isGood ? stopped : []) console.log(`      stopped ${each}`)
  }
})
const right = results.filter(({ found }) => found.length > 0 !== isGood)
console.log(`${right.length} of ${results.length} right`)
