/** Provides a raw TCP client that sends arbitrary bytes and parses responses. */
import { Buffer } from "node:buffer"
import * as Net from "node:net"
import { onTestFinished } from "vitest"

export interface Sent {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** API key secret for the `Authorization` header. */
  readonly key?: string
  /** Additional header lines, such as `X-A: 1`. */
  readonly headers?: ReadonlyArray<string>
  /** JSON body, sent with its Content-Length. */
  readonly body?: string
}

/** Encodes a request without validating it: by default a GET of `/v1/pets`, or a POST if it has a body. */
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

export class WireResponse {
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
    return this.#headers.find(([candidate]) => candidate === name)?.[1]
  }

  json(): unknown {
    return JSON.parse(this.body)
  }
}

export class Wire {
  readonly #socket: Net.Socket
  #chunks: Array<Buffer> = []
  #length = 0
  #notify = (): void => {}
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>
  #hasEnded = false

  private constructor(socket: Net.Socket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()))
    for (const event of ["end", "close"]) {
      socket.once(event, () => {
        this.#hasEnded = true
        this.#notify()
      })
    }
    // Ignored, because tests detect a reset by the missing bytes.
    socket.on("error", () => {})
  }

  /** Connects without reading: received bytes stay in the socket buffers until the first read. */
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

  /** Connects and sends bytes. */
  static async openAndSend(port: number, bytes: string | Uint8Array): Promise<Wire> {
    const wire = await Wire.open(port)
    await wire.send(bytes)
    return wire
  }

  /** Resolves once the bytes are written, or the connection is closed. */
  send(bytes: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return this.closed
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve())
    })
  }

  /** Reads the next response; set `head` for the response to a `HEAD` request, which has no body. */
  async response({ head = false }: { readonly head?: boolean } = {}): Promise<WireResponse> {
    this.#read()
    let total = 0
    for (;;) {
      // Chunks are joined only when a large response is complete, because joining copies all of them.
      if (this.#length >= total) {
        const received = this.#received()
        const end = received.indexOf("\r\n\r\n")
        if (end >= 0) {
          const text = received.toString("latin1", 0, end)
          const length =
            head || /^HTTP\/1\.1 (?:1|204)/.test(text) ? "0" : /\r\ncontent-length: ([0-9]+)/i.exec(text)?.[1]
          total = end + 4 + Number(length)
          if (received.length >= total) {
            this.#chunks = [received.subarray(total)]
            this.#length -= total
            return new WireResponse(text, received.toString("utf8", end + 4, total))
          }
        }
      }
      if (this.#hasEnded) {
        const start = this.#received().toString("latin1", 0, 2_000)
        throw new Error(`connection closed before or within a response: ${start}`)
      }
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    }
  }

  /** Reads until the server closes the connection, closes the client side, and returns the unread bytes. */
  async rest(): Promise<string> {
    this.#read()
    this.#socket.once("end", () => this.#socket.end())
    if (this.#socket.readableEnded) this.#socket.end()
    await this.closed
    return this.#received().toString("latin1")
  }

  /** Closes the sending side; reading still works. */
  end(): void {
    this.#socket.end()
  }

  /** Resets the connection. */
  abort(): void {
    this.#socket.resetAndDestroy()
  }

  /** Joins and returns all unread bytes. */
  #received(): Buffer {
    const received = Buffer.concat(this.#chunks)
    this.#chunks = [received]
    return received
  }

  #read(): void {
    if (this.#socket.listenerCount("data") > 0) return
    this.#socket.on("data", (chunk) => {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      this.#notify()
    })
  }
}

/** Reads the next `count` responses. */
export const responses = async (wire: Wire, count: number): Promise<ReadonlyArray<WireResponse>> => {
  const received: Array<WireResponse> = []
  while (received.length < count) received.push(await wire.response())
  return received
}

/** Reads the next `count` responses and returns their statuses. */
export const statuses = async (wire: Wire, count: number): Promise<ReadonlyArray<number>> =>
  (await responses(wire, count)).map(({ status }) => status)
