/** Runs a task on many inputs in several threads; each thread runs this module, too. */
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { parentPort, Worker, workerData } from "node:worker_threads"

export interface Options<In, Out> {
  /** The URL of a module that exports `task`, a function from an input to the promise of its result. */
  readonly module: string
  readonly inputs: ReadonlyArray<In>
  readonly onResult?: (result: Out, done: number) => void
  /** The number of threads; one per core by default. */
  readonly threads?: number
}

/** Returns the results in the order of the inputs. */
export const map = async <In, Out>({
  inputs,
  module,
  onResult = () => undefined,
  threads = availableParallelism()
}: Options<In, Out>): Promise<ReadonlyArray<Out>> => {
  const queue = inputs.entries()
  const results: Array<Out> = []
  let done = 0
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { taskModule: module } })
    try {
      for (const [index, input] of queue) {
        worker.postMessage(input)
        // Safe: the thread sends only what the module's `task` returns.
        const [result] = (await once(worker, "message")) as [Out]
        results[index] = result
        onResult(result, ++done)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: threads }, work))
  return results
}

if (typeof workerData?.taskModule === "string") {
  const { task }: { readonly task: (input: unknown) => Promise<unknown> } = await import(
    workerData.taskModule
  )
  parentPort?.on("message", async (input) => parentPort?.postMessage(await task(input)))
}
