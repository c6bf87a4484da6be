/**
 * The load generator, a process of its own: as many connections as asked for, each with one request under way.
 *
 * Plain sockets and answers read just as far as needed, so that it keeps up with the fastest server. At a given rate
 * requests are due at fixed moments, and their latency counts from then, also when none of the connections was free.
 */
import * as net from "node:net"
import { createHistogram, performance, type RecordableHistogram } from "node:perf_hooks"

/** What to send. */
export interface Task {
  readonly port: number
  /** One request, as it goes over the wire. */
  readonly request: string
  /** The status of a right answer. */
  readonly status: number
  readonly connections: number
  readonly seconds: number
  /** Requests per second; without it as many as the server answers. */
  readonly rate?: number | undefined
}

/** What came of it. */
export interface Outcome {
  readonly requests: number
  /** Answers with another status. */
  readonly others: number
  readonly perSecond: number
  /** Milliseconds from sending, or from when a request was due, to the end of its answer. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly p999: number }
}

const HEAD_END = "\r\n\r\n"

class Client {
  readonly socket: net.Socket
  readonly #onAnswer: (client: Client, status: number) => void
  #received: Buffer | undefined
  since = 0

  constructor(
    port: number,
    onAnswer: (client: Client, status: number) => void,
    onError: (error: Error) => void
  ) {
    this.#onAnswer = onAnswer
    this.socket = net.connect({ port, host: "127.0.0.1", noDelay: true })
    this.socket.on("data", (chunk) => this.#receive(chunk))
    this.socket.on("error", onError)
    this.socket.on("end", () => onError(new Error("the server closed a connection")))
  }

  send(request: string, since: number): void {
    this.since = since
    this.socket.write(request, "latin1")
  }

  #receive(chunk: Buffer): void {
    const received = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = received.indexOf(HEAD_END)
    if (headEnd < 0 || !isWhole(received, headEnd)) {
      this.#received = received
      return
    }
    this.#received = undefined
    this.#onAnswer(this, Number(received.toString("latin1", 9, 12)))
  }
}

const isWhole = (received: Buffer, headEnd: number): boolean => {
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(received.toString("latin1", 0, headEnd))?.[1]
  return length === undefined
    ? received.subarray(-5).toString("latin1") === "0\r\n\r\n"
    : received.length >= headEnd + HEAD_END.length + Number(length)
}

/** Connections that are open, before and after all of the load. */
interface Connected {
  readonly send: () => Promise<Outcome>
  readonly close: () => void
}

/** Connects; rejects, and so does sending, when a connection breaks. */
const connect = (task: Task): Promise<Connected> =>
  new Promise((resolve, reject) => {
    let fail = reject
    let onAnswer = (_client: Client, _status: number): void => {}
    let connecting = task.connections
    const clients = Array.from(
      { length: task.connections },
      () =>
        new Client(
          task.port,
          (client, status) => onAnswer(client, status),
          (error) => fail(error)
        )
    )
    const send = (): Promise<Outcome> =>
      new Promise((resolve, reject) => {
        fail = reject
        onAnswer = sending(task, clients, resolve)
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

/** Sends until the time is over, and tells what came of it; what this returns is to be told of each answer. */
const sending = (
  task: Task,
  clients: ReadonlyArray<Client>,
  finish: (outcome: Outcome) => void
): ((client: Client, status: number) => void) => {
  const latencies = createHistogram({ figures: 3 })
  const idle: Array<Client> = []
  const began = performance.now()
  const end = began + task.seconds * 1000
  let due = 0
  let requests = 0
  let others = 0
  let open = clients.length

  const next = (client: Client): void => {
    const now = performance.now()
    if (now >= end) {
      if (--open > 0) return
      const elapsed = performance.now() - began
      finish({ requests, others, perSecond: (requests / elapsed) * 1000, latency: percentiles(latencies) })
    } else if (task.rate === undefined) client.send(task.request, now)
    else if (began + (due * 1000) / task.rate <= now)
      client.send(task.request, began + (due++ * 1000) / task.rate)
    else idle.push(client)
  }

  // Never asleep: only turns of the event loop are short enough between requests that are due every few microseconds,
  // and to wake this process would be the work of the server that answers it, 2 µs that a faster one is spared.
  const sendWhatIsDue = (): void => {
    for (let count = idle.length; count > 0; count--) {
      const client = idle.shift()
      if (client !== undefined) next(client)
    }
    if (open > 0) setImmediate(sendWhatIsDue)
  }

  for (const client of clients) next(client)
  sendWhatIsDue()
  return (client, status) => {
    latencies.record(Math.max(Math.round((performance.now() - client.since) * 1000), 1))
    requests++
    if (status !== task.status) others++
    next(client)
  }
}

const percentiles = (latencies: RecordableHistogram): Outcome["latency"] => {
  const at = (share: number): number => latencies.percentile(share) / 1000
  return { p50: at(50), p99: at(99), p999: at(99.9) }
}

/** What a load generator is told, one after the other. */
export type Order = { readonly connect: Task } | "send" | "close"

let connected: Connected | undefined

const obey = async (order: Order): Promise<unknown> => {
  if (order === "send") return connected?.send()
  if (order === "close") {
    connected?.close()
    return "closed"
  }
  connected = await connect(order.connect)
  return "connected"
}

process.on("message", (order: Order) => {
  obey(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      throw error
    }
  )
})
process.on("disconnect", () => process.exit())
