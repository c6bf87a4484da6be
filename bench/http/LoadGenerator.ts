/** The load generator as its user sees it. */
import { Child, type Guard, hasNumber } from "./Child.ts"
import type { Order, Outcome, Task } from "./Load.ts"
import type { Operation } from "./Operation.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** How much of a load, and for how long. */
export type Load = Pick<Task, "connections" | "seconds" | "rate">

const isOutcome: Guard<Outcome> = (message): message is Outcome => hasNumber(message, "requests")

const isConnected: Guard<"connected"> = (message) => message === "connected"
const isClosed: Guard<"closed"> = (message) => message === "closed"

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

  /** Opens connections to a server, and answers with what sends the operation over them; to be closed afterwards. */
  async connect(server: ServerProcess, operation: Operation, load: Load): Promise<() => Promise<Outcome>> {
    const task: Task = {
      ...load,
      port: server.port,
      request: server.bytesOf(operation),
      status: operation.status
    }
    const where = `${operation.name} at ${server.name}`
    await this.#order({ connect: task }, isConnected, where)
    return () => this.#send(where, task)
  }

  /** Sends an operation to a server over connections of its own; rejects when answers are not what was asked for. */
  async carryOut(server: ServerProcess, operation: Operation, load: Load): Promise<Outcome> {
    const send = await this.connect(server, operation, load)
    const outcome = await send()
    await this.close()
    return outcome
  }

  async close(): Promise<void> {
    await this.#order("close", isClosed, "closing")
  }

  async #send(where: string, { seconds, status }: Task): Promise<Outcome> {
    const outcome = await this.#order("send", isOutcome, where, seconds * 1000)
    if (outcome.requests === 0) throw new Error(`${where}: nothing was answered`)
    if (outcome.others > Math.max(1, outcome.requests * OTHERS_PER_REQUEST)) {
      throw new Error(
        `${where}: ${outcome.others} of ${outcome.requests} answers had another status than ${status}`
      )
    }
    return outcome
  }

  #order<A>(order: Order, guard: Guard<A>, where: string, takesMs = 0): Promise<A> {
    return this.#child.ask(order, guard, takesMs).catch((error: unknown) => {
      throw new Error(where, { cause: error })
    })
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }
}
