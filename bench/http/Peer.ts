/** Runs a measured server in its own process, which reports its port, and then its usage on request. */
import type * as http from "node:http"
import type { AddressInfo } from "node:net"
import { type Tokens, tokens } from "./Catalogue.ts"

/** The first message of a server. */
export interface Listening {
  readonly port: number
  readonly tokens: Tokens
}

/** The resource usage of the process since its start, from the operating system. */
export interface Usage {
  /** Microseconds of CPU, user and system together. */
  readonly cpuMicros: number
}

/** A response as it was recorded. */
export interface FixedResponse {
  readonly status: number
  readonly body: string
}

/** A command to a server: report the usage, or set the responses that the bare server replays. */
export type Command = "usage" | { readonly responses: ReadonlyArray<FixedResponse> }

/** Reports that a server listens, and executes commands; `onResponses` receives the responses to replay. */
export const serve = (
  listening: Listening,
  onResponses: (responses: ReadonlyArray<FixedResponse>) => void = () => undefined
): void => {
  process.on("message", (command: Command) => {
    if (command === "usage") process.send?.(usage())
    else {
      onResponses(command.responses)
      process.send?.("ok")
    }
  })
  process.on("disconnect", () => process.exit())
  process.send?.(listening)
}

/** Makes a server listen on a free port. */
export const listen = (server: http.Server): Promise<Listening> =>
  new Promise((resolve) => {
    // The address of a server on a port is never a string.
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, tokens }))
  })

const usage = (): Usage => {
  const { systemCPUTime, userCPUTime } = process.resourceUsage()
  return { cpuMicros: userCPUTime + systemCPUTime }
}
