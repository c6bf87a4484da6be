/** The load generator as its user sees it. */
import { Child, type Guard, hasNumber } from "./Child.ts"
import type { Outcome, Task } from "./Load.ts"
import type { Operation } from "./Operation.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** How much of a load, and for how long. */
export type Load = Pick<Task, "connections" | "seconds" | "rate">

const isOutcome: Guard<Outcome> = (message): message is Outcome => hasNumber(message, "requests")

/** Callers of the exhausted token are admitted once a minute by some servers. */
const OTHERS_PER_REQUEST = 0.001

/** A load generator, started and idle. */
export class LoadGenerator {
  readonly #child: Child

  constructor(core?: number) {
    this.#child = new Child({
      name: "the load generator",
      module: new URL("./Load.ts", import.meta.url),
      core
    })
  }

  /** Sends an operation to a server; rejects when answers are not what was asked for. */
  async carryOut(server: ServerProcess, operation: Operation, load: Load): Promise<Outcome> {
    const task: Task = {
      ...load,
      port: server.port,
      request: server.bytesOf(operation),
      status: operation.status
    }
    const where = `${operation.name} at ${server.name}`
    const outcome = await this.#child.ask(task, isOutcome, load.seconds * 1000).catch((error: unknown) => {
      throw new Error(where, { cause: error })
    })
    if (outcome.requests === 0) throw new Error(`${where}: nothing was answered`)
    if (outcome.others > Math.max(1, outcome.requests * OTHERS_PER_REQUEST)) {
      throw new Error(
        `${where}: ${outcome.others} of ${outcome.requests} answers had another status than ${operation.status}`
      )
    }
    return outcome
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }
}
