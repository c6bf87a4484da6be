/** Samples the memory of a server while it is attacked. */
import type { AttackedServer } from "./AttackedServer.ts"

const SAMPLE_INTERVAL_MS = 100

/** Maximum memory in bytes; a server above it is killed before it exhausts the machine's memory. */
const MAX_RSS = 2_000_000_000

export class Watch {
  /** The maximum resident memory so far, in bytes. */
  peakRss = 0
  readonly #timer: NodeJS.Timeout

  constructor(server: AttackedServer) {
    this.#timer = setInterval(() => {
      this.peakRss = Math.max(this.peakRss, server.rss())
      if (this.peakRss > MAX_RSS) server.kill("SIGKILL")
    }, SAMPLE_INTERVAL_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
