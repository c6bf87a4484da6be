/** Sends the requests of well-behaved clients. */
import * as http from "node:http"
import { createHistogram, performance } from "node:perf_hooks"

export interface Request {
  readonly url: string
  readonly key: string
  /** The animal to create, as JSON; without a body, the request is a GET. */
  readonly body?: string
  readonly timeoutMs?: number
}

export interface Outcome {
  /** The status of the response; 0 if it was missing or incomplete. */
  readonly status: number
  /** Whether the response has `Connection: close`. */
  readonly isClosing: boolean
}

const noResponse: Outcome = { status: 0, isClosing: false }

/** Sends a request over one of the agent's connections. */
export const exchange = (agent: http.Agent, { body, key, timeoutMs, url }: Request): Promise<Outcome> =>
  new Promise((resolve) => {
    const request = http.request(
      url,
      {
        agent,
        method: body === undefined ? "GET" : "POST",
        ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
        }
      },
      (response) => {
        response.resume()
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, isClosing: response.headers.connection === "close" })
        )
        response.once("error", () => resolve(noResponse))
      }
    )
    request.once("timeout", () => request.destroy(new Error("timeout")))
    request.once("error", () => resolve(noResponse))
    request.end(body)
  })

/** Counts all animals, page by page. */
export const countPets = async (origin: string, key: string): Promise<number> => {
  let count = 0
  let next: string | undefined = "/v1/pets?limit=100"
  while (next !== undefined) {
    const response: Response = await fetch(origin + next, { headers: { authorization: `Bearer ${key}` } })
    const page: unknown = await response.json()
    if (!Array.isArray(page)) throw new Error(`a page of animals is not a list: ${response.status}`)
    count += page.length
    next = /^<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1]
  }
  return count
}

export interface PoliteFigures {
  readonly requests: number
  /** Number of requests without the expected response. */
  readonly failures: number
  /** Percentiles of the latency in milliseconds. */
  readonly p50: number
  readonly p99: number
}

const PAUSE_MS = 10
/** Timeout of a request in milliseconds; after it, the request counts as failed. */
const TIMEOUT_MS = 60_000

/**
 * Measures latency and failures for a client that sends `GET /v1/pets` slowly, in sequence, on one keep-alive connection,
 * until `stop` is called.
 */
export class PoliteClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  readonly #latencies = createHistogram({ figures: 3 })
  readonly #done: Promise<void>
  #requests = 0
  #failures = 0
  #isStopped = false

  constructor(origin: string, key: string) {
    this.#done = this.#send(`${origin}/v1/pets?limit=5`, key)
  }

  async stop(): Promise<PoliteFigures> {
    this.#isStopped = true
    await this.#done
    this.#agent.destroy()
    const millisAt = (percent: number): number => this.#latencies.percentile(percent) / 1_000
    return { requests: this.#requests, failures: this.#failures, p50: millisAt(50), p99: millisAt(99) }
  }

  async #send(url: string, key: string): Promise<void> {
    while (!this.#isStopped) {
      const since = performance.now()
      const { status } = await exchange(this.#agent, { url, key, timeoutMs: TIMEOUT_MS })
      this.#latencies.record(Math.max(1, Math.round((performance.now() - since) * 1_000)))
      this.#requests++
      if (status !== 200) this.#failures++
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
