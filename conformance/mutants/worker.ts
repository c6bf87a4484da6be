/** Runs the suite against mutants in a thread: receives an id and a seed, and sends back the result. */
import { parentPort } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as Hunt from "./Hunt.ts"
import { mutants } from "./Mutants.ts"

const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]))

parentPort?.on("message", async ({ id, seed }: { readonly id: string; readonly seed: number }) => {
  const mutant = byId.get(id)
  if (mutant === undefined) throw new Error(`the mutant ${id} does not exist`)
  parentPort?.postMessage(await Effect.runPromise(Hunt.hunt(mutant, seed)))
})
