/** A client that knows no manners: it sends any bytes, and sees any that come back. */
import { Buffer } from "node:buffer"
import * as Net from "node:net"
import { onTestFinished } from "vitest"

export interface Sent {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** The secret of a key, for an `Authorization` header. */
  readonly key?: string
  /** Whole lines, beside `Host`. */
  readonly headers?: ReadonlyArray<string>
  /** Sent with its length, as JSON. */
  readonly body?: string
}

/** A request as text, well-formed when what it is made of is. */
export const request = ({
  body,
  headers = [],
  key,
  method,
  target = "/v1/pets",
  version = "1.1"
}: Sent): string =>
  [
    `${method ?? (body === undefined ? "GET" : "POST")} ${target} HTTP/${version}`,
    "Host: animals.example",
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
    ...(body === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
    "",
    body ?? ""
  ].join("\r\n")

export const pet = (name: string): string => JSON.stringify({ name, categoryId: 1 })

export class Answer {
  readonly status: number
  readonly body: string
  readonly #headers: ReadonlyArray<readonly [name: string, value: string]>

  constructor(head: string, body: string) {
    const [statusLine = "", ...lines] = head.split("\r\n")
    this.status = Number(/^HTTP\/1\.1 ([0-9]{3}) [ -~]+$/.exec(statusLine)?.[1])
    this.#headers = lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 2)
    ])
    this.body = body
  }

  header(name: string): string | undefined {
    return this.#headers.find(([other]) => other === name)?.[1]
  }

  json(): unknown {
    return JSON.parse(this.body)
  }
}

export class Wire {
  readonly #socket: Net.Socket
  #received = Buffer.alloc(0)
  #notify = (): void => {}
  /** Resolves when the connection is gone, in whichever way. */
  readonly closed: Promise<void>
  #ended = false

  private constructor(socket: Net.Socket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()))
    for (const event of ["end", "close"]) {
      socket.once(event, () => {
        this.#ended = true
        this.#notify()
      })
    }
    // A reset shows as bytes that are missing.
    socket.on("error", () => {})
  }

  /** Connects; what comes back is left in the system's buffers until it is read. */
  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = Net.connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
      onTestFinished(() => {
        socket.destroy()
      })
      socket.once("error", reject)
      socket.once("connect", () => resolve(new Wire(socket)))
    })
  }

  /** Connects and sends. */
  static async sending(port: number, bytes: string | Uint8Array): Promise<Wire> {
    const wire = await Wire.open(port)
    await wire.send(bytes)
    return wire
  }

  /** Resolves once the bytes are with the system, or cannot be sent any more. */
  send(bytes: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return this.closed
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve())
    })
  }

  /** The next answer; `head` when it belongs to a `HEAD` request and so has no body. */
  async answer({ head = false }: { readonly head?: boolean } = {}): Promise<Answer> {
    this.#read()
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n")
      if (end >= 0) {
        const text = this.#received.toString("latin1", 0, end)
        const length =
          head || /^HTTP\/1\.1 (?:1|204)/.test(text) ? "0" : /\r\ncontent-length: ([0-9]+)/i.exec(text)?.[1]
        const total = end + 4 + Number(length)
        if (this.#received.length >= total) {
          const body = this.#received.toString("utf8", end + 4, total)
          this.#received = this.#received.subarray(total)
          return new Answer(text, body)
        }
      }
      if (this.#ended)
        throw new Error(`ended before or within an answer: ${this.#received.toString("latin1")}`)
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    }
  }

  /** All bytes up to the end of the connection, once the server has ended it; then the client does, too. */
  async rest(): Promise<string> {
    this.#read()
    this.#socket.once("end", () => this.#socket.end())
    if (this.#socket.readableEnded) this.#socket.end()
    await this.closed
    return this.#received.toString("latin1")
  }

  /** Sends nothing more, but still reads. */
  end(): void {
    this.#socket.end()
  }

  /** Goes away at once. */
  abort(): void {
    this.#socket.resetAndDestroy()
  }

  #read(): void {
    if (this.#socket.listenerCount("data") > 0) return
    this.#socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#notify()
    })
  }
}

/** The next responses of a connection. */
export const answers = async (wire: Wire, count: number): Promise<ReadonlyArray<Answer>> => {
  const received: Array<Answer> = []
  while (received.length < count) received.push(await wire.answer())
  return received
}

/** Their statuses. */
export const statuses = async (wire: Wire, count: number): Promise<ReadonlyArray<number>> =>
  (await answers(wire, count)).map(({ status }) => status)
