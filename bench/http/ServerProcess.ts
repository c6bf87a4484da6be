/** A measured server as the bench sees it. */
import { callerCounts, type Tokens } from "./Catalogue.ts"
import { Child, type Guard, hasNumber } from "./Child.ts"
import * as DatabaseCpu from "./DatabaseCpu.ts"
import type { FixedResponse, Listening, Order, Usage } from "./Peer.ts"
import { bare, peerModule, type Server } from "./Servers.ts"
import * as Wire from "./Wire.ts"
import type { PlannedRequest } from "./Workload.ts"

/** How the process is started. */
export interface StartOptions {
  readonly core?: number | undefined
  readonly nodeFlags?: ReadonlyArray<string> | undefined
  /** The processes of its database servers; `undefined` if it has none. */
  readonly databaseProcesses?: ReadonlyArray<number> | undefined
}

const isListening: Guard<Listening> = (message): message is Listening => hasNumber(message, "port")
const isUsage: Guard<Usage> = (message): message is Usage => hasNumber(message, "cpuMicros")
const isTaken: Guard<"taken"> = (message) => message === "taken"

/** Milliseconds that a server may take to store its animals and keys. */
const FILLING_MS = 120_000

const noCursors: Wire.Cursors = { all: [], available: [], pending: [], sold: [] }

const list = { kind: "first page", method: "GET", target: "/v1/pets" } as const

/** The `Link` header of a list. */
const linkOf = async (port: number, tokens: Tokens, target: string): Promise<string | undefined> => {
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    headers: { authorization: `Bearer ${tokens.unlimited[0]}`, connection: "close" }
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${target}: ${response.status} ${text}`)
  return response.headers.get("link") ?? undefined
}

/** A server that listens, knows its callers and has issued its cursors. */
export class ServerProcess {
  readonly name: string
  /** Whether it only repeats recorded responses. */
  readonly isBare: boolean
  /** Whether it uses a database server, which needs a core. */
  readonly hasDatabaseServer: boolean
  readonly #databaseProcesses: ReadonlyArray<number>
  readonly #child: Child
  #address: Wire.Address

  private constructor(
    child: Child,
    address: Wire.Address,
    isBare: boolean,
    databaseProcesses: ReadonlyArray<number> | undefined
  ) {
    this.hasDatabaseServer = databaseProcesses !== undefined
    this.#databaseProcesses = databaseProcesses ?? []
    this.name = child.name
    this.isBare = isBare
    this.#child = child
    this.#address = address
  }

  /** Starts it, uses up the exhausted callers' only request, and collects the cursors of all pages. */
  static async start(server: Server, options: StartOptions = {}): Promise<ServerProcess> {
    const child = new Child({
      ...options,
      name: server.name,
      module: peerModule(server.file),
      arguments: server.arguments
    })
    const { port, tokens } = await child.receive(isListening, FILLING_MS)
    const isBare = server.file === bare.file
    const cursors = isBare ? noCursors : await Wire.collectCursors((target) => linkOf(port, tokens, target))
    const started = new ServerProcess(child, { port, tokens, cursors }, isBare, options.databaseProcesses)
    for (let index = 0; index < callerCounts.exhausted && !isBare; index++) {
      await started.send({ ...list, sender: { kind: "exhausted", index }, status: 429 })
    }
    return started
  }

  /** Where requests to it go, and what they contain. */
  get address(): Wire.Address {
    return this.#address
  }

  usage(): Promise<Usage> {
    return this.#order("usage", isUsage)
  }

  /** Returns a function for the CPU time of its database servers since now, in microseconds, where it can be measured. */
  databaseUsage(): () => number | undefined {
    const processes = this.#databaseProcesses
    const before = processes.map(DatabaseCpu.read)
    return () =>
      processes.length === 0
        ? undefined
        : processes.reduce(
            (sum, pid, index) => sum + DatabaseCpu.between(before[index] ?? new Map(), DatabaseCpu.read(pid)),
            0
          )
  }

  /** Makes the bare server repeat responses of another server, to requests as that server gets them. */
  async repeat(address: Wire.Address, responses: ReadonlyArray<FixedResponse>): Promise<void> {
    this.#address = { ...address, port: this.#address.port }
    await this.#order({ responses }, isTaken)
  }

  /** Sends one request. A 429 is repeated once: some servers admit one request per minute of the exhausted callers. */
  async send(request: PlannedRequest): Promise<FixedResponse> {
    const { body, method, sender } = request
    const { cursors, port, tokens } = this.#address
    const authorization = Wire.authorizationOf(sender, tokens)
    const exchange = async (): Promise<FixedResponse> => {
      const response = await fetch(`http://127.0.0.1:${port}${Wire.targetOf(request, cursors)}`, {
        method,
        headers: {
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          // A connection that stays open would be one more than those of the load.
          connection: "close"
        },
        ...(body === undefined ? {} : { body })
      })
      return { status: response.status, body: await response.text() }
    }
    const response = await exchange()
    return request.status === 429 && response.status !== 429 ? exchange() : response
  }

  stop(): Promise<void> {
    return this.#child.stop()
  }

  #order<A>(order: Order, guard: Guard<A>): Promise<A> {
    return this.#child.ask(order, guard)
  }
}
