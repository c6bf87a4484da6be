/** Samples the memory of a server while it is attacked. */
import type { AttackedServer } from "./AttackedServer.ts"

const EVERY_MS = 100

/** A server without bounds is ended here, before it exhausts the machine's memory. */
const MAX_RSS = 2_000_000_000

export class Watch {
  /** The most bytes that were seen. */
  peakRss = 0
  readonly #timer: NodeJS.Timeout

  constructor(server: AttackedServer) {
    this.#timer = setInterval(() => {
      this.peakRss = Math.max(this.peakRss, server.rss())
      if (this.peakRss > MAX_RSS) server.kill("SIGKILL")
    }, EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
