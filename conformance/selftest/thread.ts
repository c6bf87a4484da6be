/** A thread of `Threads.map`: runs the task of a module on each input that it receives. */
import { parentPort, workerData } from "node:worker_threads"

const { task }: { readonly task: (input: unknown) => Promise<unknown> } = await import(workerData)

parentPort?.on("message", async (input) => parentPort?.postMessage(await task(input)))
