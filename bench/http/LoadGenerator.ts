/** Starts the load generator's process, and sends it commands. */
import { Child, type Guard, hasNumber } from "../Child.ts"
import type { Command, Outcome, Task } from "./Load.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** A task without its server. */
export type Load = Omit<Task, "address" | "isChecked" | "isYielding">

const isOutcome: Guard<Outcome> = (message): message is Outcome => hasNumber(message, "requests")

const isConnected: Guard<"connected"> = (message) => message === "connected"
const isClosed: Guard<"closed"> = (message) => message === "closed"

/** Tolerated responses with an unplanned status: some servers admit one request per minute of an exhausted caller. */
const MAX_UNPLANNED = 16
const MAX_UNPLANNED_PER_REQUEST = 0.001

/** A running load generator. */
export class LoadGenerator {
  readonly #child: Child

  constructor(core?: number) {
    const module = new URL("./Load.ts", import.meta.url)
    this.#child = new Child({ name: "the load generator", module, core })
  }

  /** Opens connections to a server, and returns a function that sends the load; call `close` afterwards. */
  async connect(server: ServerProcess, load: Load): Promise<() => Promise<Outcome>> {
    const task: Task = {
      ...load,
      address: server.address,
      isYielding: server.hasDatabaseServer,
      // The bare server is not checked: it replays its responses in order and ignores the requests.
      isChecked: !server.isBare
    }
    const label = `${load.workload.name} at ${server.name}`
    await this.#execute({ connect: task }, isConnected, label)
    return () => this.#send(label, load.seconds)
  }

  /** Sends a load to a server over new connections; rejects if too many responses have an unplanned status. */
  async run(server: ServerProcess, load: Load): Promise<Outcome> {
    const send = await this.connect(server, load)
    const outcome = await send()
    await this.close()
    return outcome
  }

  async close(): Promise<void> {
    await this.#execute("close", isClosed, "closing")
  }

  async #send(label: string, seconds: number): Promise<Outcome> {
    const outcome = await this.#execute("send", isOutcome, label, seconds * 1000)
    if (outcome.requests === 0) throw new Error(`${label}: no response`)
    if (outcome.unplanned > Math.max(MAX_UNPLANNED, outcome.requests * MAX_UNPLANNED_PER_REQUEST)) {
      throw new Error(
        `${label}: ${outcome.unplanned} of ${outcome.requests} responses had an unplanned status`
      )
    }
    return outcome
  }

  #execute<A>(command: Command, guard: Guard<A>, label: string, takesMs = 0): Promise<A> {
    return this.#child.execute(command, guard, takesMs).catch((error: unknown) => {
      throw new Error(label, { cause: error })
    })
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }
}
