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

/** Carries out a task; rejects when a connection breaks. */
const carryOut = (task: Task): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const latencies = createHistogram({ figures: 3 })
    const idle: Array<Client> = []
    const clients: Array<Client> = []
    let began = 0
    let end = 0
    let due = 0
    let requests = 0
    let others = 0
    let connecting = task.connections
    let open = task.connections

    const finish = (): void => {
      for (const { socket } of clients) socket.destroy()
      const elapsed = performance.now() - began
      resolve({ requests, others, perSecond: (requests / elapsed) * 1000, latency: percentiles(latencies) })
    }

    const next = (client: Client): void => {
      const now = performance.now()
      if (now >= end) {
        if (--open === 0) finish()
      } else if (task.rate === undefined) client.send(task.request, now)
      else if (began + (due * 1000) / task.rate <= now)
        client.send(task.request, began + (due++ * 1000) / task.rate)
      else idle.push(client)
    }

    const onAnswer = (client: Client, status: number): void => {
      latencies.record(Math.max(Math.round((performance.now() - client.since) * 1000), 1))
      requests++
      if (status !== task.status) others++
      next(client)
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

    // Time counts from when all are connected: what was due before would else seem to have been answered late.
    const start = (): void => {
      began = performance.now()
      end = began + task.seconds * 1000
      for (const client of clients) next(client)
      sendWhatIsDue()
    }

    for (let count = 0; count < task.connections; count++) {
      const client = new Client(task.port, onAnswer, reject)
      clients.push(client)
      client.socket.once("connect", () => {
        if (--connecting === 0) start()
      })
    }
  })

const percentiles = (latencies: RecordableHistogram): Outcome["latency"] => {
  const at = (share: number): number => latencies.percentile(share) / 1000
  return { p50: at(50), p99: at(99), p999: at(99.9) }
}

process.on("message", (task: Task) => {
  carryOut(task).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      throw error
    }
  )
})
process.on("disconnect", () => process.exit())
