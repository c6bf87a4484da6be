/**
 * Sends a load, in its own process: over a given number of connections, each with one request in flight.
 *
 * Requests are built before the measured time. The generator uses plain sockets and parses responses only as far as
 * needed, so that it keeps up with the fastest server. At a given rate, requests are due at fixed times; their latency
 * is measured from then, even if no connection was free.
 */
import * as net from "node:net"
import { createHistogram, performance, type RecordableHistogram } from "node:perf_hooks"
import * as Wire from "./Wire.ts"
import * as Workload from "./Workload.ts"

/** The requests to send. */
export interface Task {
  readonly address: Wire.Address
  readonly workload: Workload.Workload
  readonly seed: number
  /** Number of requests that are built before the load begins. */
  readonly requests: number
  /** Whether the requests are sent repeatedly until the time has passed. */
  readonly isCyclic: boolean
  readonly connections: number
  /** Maximum duration of the load in seconds. */
  readonly seconds: number
  /** Requests per second; by default, as many as the server completes. */
  readonly rate?: number | undefined
  /** Whether this process yields its core while it waits, because database servers need it. */
  readonly isYielding: boolean
  /** Whether the statuses of responses are compared with the planned statuses. */
  readonly isChecked: boolean
}

/** The result of a load. */
export interface Outcome {
  readonly requests: number
  /** Number of responses with an unplanned status. */
  readonly unplanned: number
  readonly perSecond: number
  /** Milliseconds from the time at which a request was sent, or was due, to the end of its response. */
  readonly latency: { readonly p50: number; readonly p99: number }
}

const HEAD_END = "\r\n\r\n"

/** A request that is ready to be sent. */
interface Prepared {
  readonly bytes: Buffer
  readonly status: number
}

class Client {
  readonly socket: net.Socket
  readonly #onResponse: (client: Client, status: number) => void
  #received: Buffer | undefined
  since = 0
  /** The status of the correct response to the request in flight. */
  expected = 0

  constructor(
    port: number,
    index: number,
    onResponse: (client: Client, status: number) => void,
    onError: (error: Error) => void
  ) {
    this.#onResponse = onResponse
    this.socket = net.connect({ port, host: "127.0.0.1", noDelay: true, ...localAddress(index) })
    this.socket.on("data", (chunk) => this.#receive(chunk))
    this.socket.on("error", onError)
    this.socket.on("end", () => onError(new Error("the server closed a connection")))
  }

  send({ bytes, status }: Prepared, since: number): void {
    this.since = since
    this.expected = status
    this.socket.write(bytes)
  }

  #receive(chunk: Buffer): void {
    const received = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = received.indexOf(HEAD_END)
    if (headEnd < 0 || !isComplete(received, headEnd)) {
      this.#received = received
      return
    }
    this.#received = undefined
    this.#onResponse(this, Number(received.toString("latin1", 9, 12)))
  }
}

/**
 * Returns one of 250 loopback addresses (Linux only), because requests without a key are counted per client address.
 */
const localAddress = (index: number): { readonly localAddress?: string } =>
  process.platform === "linux" ? { localAddress: `127.0.0.${1 + (index % 250)}` } : {}

const isComplete = (received: Buffer, headEnd: number): boolean => {
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(received.toString("latin1", 0, headEnd))?.[1]
  return length === undefined
    ? received.subarray(-5).toString("latin1") === "0\r\n\r\n"
    : received.length >= headEnd + HEAD_END.length + Number(length)
}

/** Open connections, ready to send the load. */
interface Connected {
  readonly send: () => Promise<Outcome>
  readonly close: () => void
}

const prepare = ({ address, requests, seed, workload }: Task): ReadonlyArray<Prepared> =>
  Workload.plan(workload, seed, requests).map((request) => ({
    bytes: Wire.bytesOf(request, address),
    status: request.status
  }))

/** Builds the requests and connects; connecting and sending reject if a connection breaks. */
const connect = (task: Task): Promise<Connected> =>
  new Promise((resolve, reject) => {
    const prepared = prepare(task)
    let fail = reject
    let onResponse = (_client: Client, _status: number): void => {}
    let connecting = task.connections
    const clients = Array.from(
      { length: task.connections },
      (_, index) =>
        new Client(
          task.address.port,
          index,
          (client, status) => onResponse(client, status),
          (error) => fail(error)
        )
    )
    const send = (): Promise<Outcome> =>
      new Promise((resolve, reject) => {
        fail = reject
        onResponse = startSending(task, prepared, clients, resolve)
      })
    const close = (): void => {
      fail = () => {}
      for (const { socket } of clients) socket.destroy()
    }
    for (const { socket } of clients) {
      socket.once("connect", () => {
        if (--connecting === 0) resolve({ send, close })
      })
    }
  })

/** Starts to send, and calls `finish` with the outcome. Pass each response to the returned function. */
const startSending = (
  task: Task,
  prepared: ReadonlyArray<Prepared>,
  clients: ReadonlyArray<Client>,
  finish: (outcome: Outcome) => void
): ((client: Client, status: number) => void) => {
  const latencies = createHistogram({ figures: 3 })
  const idle: Array<Client> = []
  const began = performance.now()
  const end = began + task.seconds * 1000
  let sent = 0
  let requests = 0
  let unplanned = 0
  let active = clients.length

  const isOver = (now: number): boolean => now >= end || (sent === prepared.length && !task.isCyclic)

  const sendNext = (client: Client): void => {
    const now = performance.now()
    const request = prepared[sent % prepared.length]
    const due = task.rate === undefined ? now : began + (sent * 1000) / task.rate
    if (request === undefined || isOver(now)) {
      if (--active > 0) return
      const elapsed = performance.now() - began
      finish({ requests, unplanned, perSecond: (requests / elapsed) * 1000, latency: percentiles(latencies) })
    } else if (due <= now) {
      sent++
      client.send(request, due)
    } else idle.push(client)
  }

  // Keeps this process awake. Timers are too coarse for requests that are due every few microseconds. Besides, a server
  // whose response wakes a sleeping process is charged 2 µs of CPU time; only the fastest server would avoid this.
  const sendDueRequests = (): void => {
    for (let count = idle.length; count > 0; count--) {
      const client = idle.shift()
      if (client !== undefined) sendNext(client)
    }
    // Without a rate, each response triggers the next request.
    if (active > 0 && !(task.isYielding && task.rate === undefined)) setImmediate(sendDueRequests)
  }

  for (const client of clients) sendNext(client)
  sendDueRequests()
  return (client, status) => {
    latencies.record(Math.max(Math.round((performance.now() - client.since) * 1000), 1))
    requests++
    if (task.isChecked && status !== client.expected) unplanned++
    sendNext(client)
  }
}

const percentiles = (latencies: RecordableHistogram): Outcome["latency"] => {
  const millisAt = (percent: number): number => latencies.percentile(percent) / 1000
  return { p50: millisAt(50), p99: millisAt(99) }
}

/** The commands to the load generator, which are sent in sequence. */
export type Command = { readonly connect: Task } | "send" | "close"

let connected: Connected | undefined

const execute = async (command: Command): Promise<unknown> => {
  if (command === "send") return connected?.send()
  if (command === "close") {
    connected?.close()
    return "closed"
  }
  connected = await connect(command.connect)
  return "connected"
}

process.on("message", (command: Command) => {
  execute(command).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error
    }
  )
})
process.on("disconnect", () => process.exit())
