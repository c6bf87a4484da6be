/** Runs a measured server in its own process, which reports its port, and then its usage on request. */
import type { Tokens } from "./Catalogue.ts"

/** The first message of a server. */
export interface Listening {
  readonly port: number
  readonly tokens: Tokens
}

/** The resource usage of the process since its start, from the operating system. */
export interface Usage {
  /** Microseconds of CPU, user and system together. */
  readonly cpuMicros: number
  /** Maximum resident memory in bytes. */
  readonly peakBytes: number
  /** Current resident memory in bytes. */
  readonly residentBytes: number
  /** Bytes in use on the heap and outside it; measured after a garbage collection if Node exposes `gc`. */
  readonly usedBytes: number
}

/** A command to a server: report the usage, report the metrics, or set the responses that the bare server replays. */
export type Command = "usage" | "metrics" | { readonly responses: ReadonlyArray<FixedResponse> }

/** The metrics of a server in Prometheus text format. */
export interface Metrics {
  readonly metrics: string
}

/** Optional capabilities of a server. */
export interface Capabilities {
  /** Receives the responses that the bare server must replay. */
  readonly onResponses?: (responses: ReadonlyArray<FixedResponse>) => void
  readonly metrics?: () => string
}

/** A response as it was recorded. */
export interface FixedResponse {
  readonly status: number
  readonly body: string
}

/** Runs a server in this process. */
export const serve = async (
  start: () => Promise<Listening>,
  { metrics, onResponses }: Capabilities = {}
): Promise<void> => {
  const listening = await start()
  process.on("message", (command: Command) => {
    if (command === "usage") process.send?.(usage())
    else if (command === "metrics") {
      process.send?.({ metrics: metrics?.() ?? "" } satisfies Metrics)
    } else {
      onResponses?.(command.responses)
      process.send?.("ok")
    }
  })
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
