/** Runs the suite against many mutants in several threads. */
import { Worker } from "node:worker_threads"
import type { MutantResult } from "./Hunt.ts"
import type { Mutant } from "./Mutant.ts"

export interface Campaign {
  readonly mutants: ReadonlyArray<Mutant>
  /** The seed of each run of the suite. */
  readonly seed: number
  /** The number of threads. */
  readonly workers: number
  readonly onResult?: (result: MutantResult, done: number) => void
}

/** Runs the suite against each mutant, and returns the results in the order of the mutants. */
export const run = async ({
  mutants,
  onResult = () => undefined,
  seed,
  workers
}: Campaign): Promise<ReadonlyArray<MutantResult>> => {
  const results = new Map<string, MutantResult>()
  const queue = mutants.map(({ id }) => id).values()
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url))
    try {
      for (const id of queue) {
        const result = await new Promise<MutantResult>((resolve, reject) => {
          worker.removeAllListeners()
          worker.once("message", resolve)
          worker.once("error", reject)
          worker.postMessage({ id, seed })
        })
        results.set(id, result)
        onResult(result, results.size)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return mutants.flatMap(({ id }) => results.get(id) ?? [])
}
