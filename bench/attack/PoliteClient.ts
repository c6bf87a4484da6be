/** Measures latency and failures for a client that sends requests slowly, in sequence, on one keep-alive connection. */
import * as http from "node:http"
import { createHistogram, performance } from "node:perf_hooks"
import { exchange } from "./Exchange.ts"

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
const TIMEOUT_MS = 5_000

/** Sends `GET /v1/pets` until `stop` is called. */
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
