/** Starts the servers that are measured, and sends them single HTTP requests and IPC commands. */
import { Child, type Guard, hasNumber } from "../Child.ts"
import * as DatabaseCpu from "../DatabaseCpu.ts"
import type * as Databases from "../Databases.ts"
import { callerCounts, type Tokens } from "./Catalogue.ts"
import type { Command, FixedResponse, Listening, Usage } from "./Peer.ts"
import * as Servers from "./Servers.ts"
import * as Wire from "./Wire.ts"
import type { PlannedRequest } from "./Workload.ts"

/** Options of the process. */
export interface StartOptions {
  /** The arguments of the peer: the addresses of its databases come first. */
  readonly arguments?: ReadonlyArray<string>
  readonly core?: number | undefined
  /** The process ids of its database servers; `undefined` if it uses none. */
  readonly databaseProcesses?: ReadonlyArray<number> | undefined
}

const isListening: Guard<Listening> = (message): message is Listening => hasNumber(message, "port")
const isUsage: Guard<Usage> = (message): message is Usage => hasNumber(message, "cpuMicros")
const isAcknowledged: Guard<"ok"> = (message) => message === "ok"

/** Timeout for startup, in milliseconds: storing animals and keys, then listening. */
const FILLING_MS = 120_000

const noCursors: Wire.Cursors = { all: [], available: [], pending: [], sold: [] }

const list = { kind: "first page", method: "GET", target: "/v1/pets" } as const

/** Requests a list, and returns its `Link` header. */
const linkOf = async (port: number, tokens: Tokens, target: string): Promise<string | undefined> => {
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    headers: { authorization: `Bearer ${tokens.unlimited[0]}`, connection: "close" }
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${target}: ${response.status} ${text}`)
  return response.headers.get("link") ?? undefined
}

/** A running server, with its callers' tokens and its page cursors. */
export class ServerProcess {
  readonly name: string
  /** Whether it only replays recorded responses. */
  readonly isBare: boolean
  /** Whether it uses a database server, which needs a core of its own. */
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

  /**
   * Starts a server, collects the cursors of all pages, and sends the one request that each `exhausted` caller is
   * allowed per minute.
   */
  static async start(server: Servers.Server, options: StartOptions = {}): Promise<ServerProcess> {
    const child = new Child({
      ...options,
      nodeFlags: Servers.nodeFlags,
      name: server.name,
      module: new URL(`./peers/${server.file}.ts`, import.meta.url)
    })
    const { port, tokens } = await child.receive(isListening, FILLING_MS)
    const isBare = server.file === Servers.bare.file
    const cursors = isBare ? noCursors : await Wire.collectCursors((target) => linkOf(port, tokens, target))
    const started = new ServerProcess(child, { port, tokens, cursors }, isBare, options.databaseProcesses)
    for (let index = 0; index < callerCounts.exhausted && !isBare; index++) {
      await started.send({ ...list, sender: { kind: "exhausted", index }, status: 429 })
    }
    return started
  }

  /** Starts a server on new databases. */
  static async startOn(
    databases: Databases.Databases,
    server: Servers.Server,
    options: Omit<StartOptions, "arguments" | "databaseProcesses">
  ): Promise<ServerProcess> {
    const addresses = await Servers.createDatabases(server, databases)
    const processes = Servers.databaseProcesses(server, databases)
    return ServerProcess.start(server, { ...options, arguments: addresses, databaseProcesses: processes })
  }

  /** The port of the server, and the tokens and cursors for its requests. */
  get address(): Wire.Address {
    return this.#address
  }

  usage(): Promise<Usage> {
    return this.#execute("usage", isUsage)
  }

  /**
   * Starts measuring the database servers. The returned function returns the CPU time they used since, in microseconds;
   * `undefined` without database servers.
   */
  databaseUsage(): () => number | undefined {
    const processes = this.#databaseProcesses
    const before = processes.map(DatabaseCpu.read)
    return () =>
      processes.length === 0
        ? undefined
        : processes.reduce(
            (sum, pid, index) =>
              sum + DatabaseCpu.microsBetween(before[index] ?? new Map(), DatabaseCpu.read(pid)),
            0
          )
  }

  /** Makes the bare server replay the responses of another server. Later requests to it use the data in `address`. */
  async replay(address: Wire.Address, responses: ReadonlyArray<FixedResponse>): Promise<void> {
    this.#address = { ...address, port: this.#address.port }
    await this.#execute({ responses }, isAcknowledged)
  }

  /**
   * Sends a request. If a 429 is planned but the request is admitted, sends it once more: the caller may have had the
   * one request of its minute left.
   */
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
          // Otherwise this connection would remain open in addition to those of the load.
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

  #execute<A>(command: Command, guard: Guard<A>): Promise<A> {
    return this.#child.execute(command, guard)
  }
}
