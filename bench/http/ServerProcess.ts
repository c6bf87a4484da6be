/** A measured server as its measurer sees it. */
import type { Tokens } from "./Catalogue.ts"
import { Child, type Guard, hasNumber } from "./Child.ts"
import { bytesOf, type Operation } from "./Operation.ts"
import type { FixedAnswer, Listening, Order, Usage } from "./Peer.ts"
import { bare, peerModule, type Server } from "./Servers.ts"

/** How the process is started. */
export interface StartOptions {
  readonly core?: number | undefined
  readonly nodeFlags?: ReadonlyArray<string> | undefined
}

const isListening: Guard<Listening> = (message): message is Listening => hasNumber(message, "port")
const isUsage: Guard<Usage> = (message): message is Usage => hasNumber(message, "cpuMicros")
const isTaken: Guard<"taken"> = (message) => message === "taken"

/** A server that listens. */
export class ServerProcess {
  readonly name: string
  /** Whether it only repeats what it is told to. */
  readonly isBare: boolean
  readonly port: number
  readonly #tokens: Tokens
  readonly #child: Child

  private constructor(child: Child, { port, tokens }: Listening, isBare: boolean) {
    this.name = child.name
    this.isBare = isBare
    this.port = port
    this.#tokens = tokens
    this.#child = child
  }

  /** Starts it and waits until it listens. */
  static async start(server: Server, options: StartOptions = {}): Promise<ServerProcess> {
    const child = new Child({
      ...options,
      name: server.name,
      module: peerModule(server.file),
      arguments: server.arguments
    })
    return new ServerProcess(child, await child.receive(isListening), server.file === bare.file)
  }

  /** What it has used so far. */
  usage(): Promise<Usage> {
    return this.#order("usage", isUsage)
  }

  /** Tells a server without logic what to answer from now on. */
  async repeat(answer: FixedAnswer): Promise<void> {
    await this.#order({ answer }, isTaken)
  }

  /** The request of an operation to this server, as it goes over the wire. */
  bytesOf(operation: Operation): string {
    return bytesOf(operation, this.#tokens, this.port)
  }

  /** The body of its answer to an operation, once that is known to be right. */
  async check(operation: Operation): Promise<string> {
    // The one request that the exhausted caller may send.
    if (operation.status === 429) await (await this.send(operation)).text()
    const { body, status } = await answerOf(await this.send(operation))
    const fault =
      status === operation.status
        ? operation.fault(parsed(body))
        : `the status is ${status}: ${body.slice(0, 500)}`
    if (fault !== undefined) throw new Error(`${this.name} answers ${operation.name} wrongly: ${fault}`)
    return body
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }

  #order<A>(order: Order, guard: Guard<A>): Promise<A> {
    return this.#child.ask(order, guard)
  }

  /** Sends the request of an operation, once. */
  send({ body, method, target, token }: Operation): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${target}`, {
      method,
      headers: {
        authorization: `Bearer ${token(this.#tokens)}`,
        // A connection that is kept would be one more than the load's.
        connection: "close",
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body })
    })
  }
}

const answerOf = async (response: Response): Promise<FixedAnswer> => ({
  status: response.status,
  body: await response.text()
})

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
