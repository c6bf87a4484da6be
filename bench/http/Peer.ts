/** A measured server as a process of its own: it says where it listens, then what it has used whenever it is asked. */
import type { Tokens } from "./Catalogue.ts"

/** What a server says once it listens. */
export interface Listening {
  readonly port: number
  readonly tokens: Tokens
}

/** What the operating system says of the process since its start. */
export interface Usage {
  /** Microseconds of CPU, user and system together. */
  readonly cpuMicros: number
  /** The most memory that was resident, in bytes. */
  readonly peakBytes: number
  /** Memory that is resident now, in bytes. */
  readonly residentBytes: number
  /** What is in use on the heap and beside it, in bytes; where Node exposes `gc`, after garbage was collected. */
  readonly usedBytes: number
}

/** What the bench tells a server: to report, or, where it has only one, what to answer from now on. */
export type Order = "usage" | { readonly answer: FixedAnswer }

/** An answer word by word. */
export interface FixedAnswer {
  readonly status: number
  readonly body: string
}

/** Runs a server in this process; `onAnswer` receives what a server without logic is to answer. */
export const serve = async (
  start: () => Promise<Listening>,
  onAnswer?: (answer: FixedAnswer) => void
): Promise<void> => {
  const listening = await start()
  process.on("message", (order: Order) => {
    if (order === "usage") process.send?.(usage())
    else {
      onAnswer?.(order.answer)
      process.send?.("taken")
    }
  })
  // The bench is gone; so are its questions.
  process.on("disconnect", () => process.exit())
  process.send?.(listening)
}

const usage = (): Usage => {
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
  globalThis.gc?.()
  const { external, heapUsed, rss } = process.memoryUsage()
  return {
    cpuMicros: userCPUTime + systemCPUTime,
    peakBytes: maxRSS * 1024,
    residentBytes: rss,
    usedBytes: heapUsed + external
  }
}
