/**
 * A small load balancer: an HTTP reverse proxy that polls `/readyz` of its nodes, forwards requests only to ready nodes
 * over keep-alive connections, and never sends a request twice.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

export interface BalancerOptions {
  /** Milliseconds between the end of a poll and the next poll of the same node. */
  readonly pollIntervalMs: number
}

/** A request that failed in the balancer or at its node. */
export interface Failure {
  readonly message: string
  /** The node to which the request was sent; `undefined` if no node was ready. */
  readonly origin: string | undefined
  /** Time of the failure, as returned by `performance.now()`. */
  readonly at: number
}

interface Node {
  readonly origin: string
  readonly agent: http.Agent
  isReady: boolean
  isRemoved: boolean
}

/** Timeout of a poll in milliseconds. */
const POLL_TIMEOUT_MS = 500

/** Number of consecutive failed polls after which a node is not ready; a status other than 200 counts immediately. */
const MAX_FAILED_POLLS = 3

export class Balancer {
  readonly origin: string
  readonly failures: Array<Failure> = []
  readonly #server: http.Server
  readonly #options: BalancerOptions
  #nodes: ReadonlyArray<Node> = []
  #turn = 0

  private constructor(server: http.Server, port: number, options: BalancerOptions) {
    this.origin = `http://127.0.0.1:${port}`
    this.#server = server
    this.#options = options
    server.on("request", (request, response) => this.#forward(request, response))
  }

  static async listen(options: BalancerOptions): Promise<Balancer> {
    const server = http.createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    // A TCP listener's address is neither a pipe name nor null.
    const { port } = server.address() as AddressInfo
    return new Balancer(server, port, options)
  }

  /** Adds a node; it receives requests once it is ready. */
  add(origin: string): void {
    const node = { origin, agent: new http.Agent({ keepAlive: true }), isReady: false, isRemoved: false }
    this.#nodes = [...this.#nodes, node]
    void this.#poll(node)
  }

  /** Removes a node that has exited. Its connections stay open, because clients may still have to read its last responses. */
  remove(origin: string): void {
    for (const node of this.#nodes) if (node.origin === origin) node.isRemoved = true
    this.#nodes = this.#nodes.filter((node) => node.origin !== origin)
  }

  /** The number of nodes that were ready at their last poll. */
  get readyCount(): number {
    return this.#nodes.filter(({ isReady }) => isReady).length
  }

  async close(): Promise<void> {
    for (const { origin } of this.#nodes) this.remove(origin)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Polls in sequence, so that an old response cannot override a newer one. */
  async #poll(node: Node): Promise<void> {
    for (let failedPolls = 0; !node.isRemoved; ) {
      const status = await statusOf(`${node.origin}/readyz`)
      failedPolls = status === undefined ? failedPolls + 1 : 0
      if (status !== undefined || failedPolls >= MAX_FAILED_POLLS) node.isReady = status === 200
      await sleep(this.#options.pollIntervalMs)
    }
  }

  #forward(incoming: http.IncomingMessage, outgoing: http.ServerResponse): void {
    const ready = this.#nodes.filter(({ isReady }) => isReady)
    const node = ready[this.#turn++ % ready.length]
    if (node === undefined) {
      incoming.resume()
      this.#fail(outgoing, undefined, "no node is ready")
      return
    }
    const { headers, method = "GET", url = "/" } = incoming
    const { connection: _, ...forwarded } = headers
    const request = http.request(
      node.origin + url,
      { agent: node.agent, method, headers: forwarded },
      (response) => {
        const { connection: _, "keep-alive": __, ...returned } = response.headers
        outgoing.writeHead(response.statusCode ?? 502, returned)
        response.pipe(outgoing)
        response.once("error", ({ message }) => this.#fail(outgoing, node.origin, message))
      }
    )
    request.once("error", ({ message }) => this.#fail(outgoing, node.origin, message))
    incoming.pipe(request)
  }

  #fail(outgoing: http.ServerResponse, origin: string | undefined, message: string): void {
    this.failures.push({ message, origin, at: performance.now() })
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502).end()
  }
}

/** Returns the status of the response, or `undefined` without a response within the timeout. */
const statusOf = (url: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const request = http.get(url, { agent: false, timeout: POLL_TIMEOUT_MS }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.once("timeout", () => request.destroy(new Error("timeout")))
    request.once("error", () => resolve(undefined))
  })
