/** Describes a hostile load, and applies it from another process. */
import { Child, type Guard, hasNumber } from "../http/Child.ts"

/** A load: the number of connections, and what each of them does. */
export interface HostileLoad {
  readonly connections: number
  readonly seconds: number
  /** The bytes that each connection sends first, in one write. */
  readonly opening?: string
  /** The bytes of one request; `{address}` is replaced by a different IP address each time. */
  readonly request: string
  /** Number of requests in one write. */
  readonly pipelined: number
  /** When responses are read; with "before sending again", a connection first reads all due responses. */
  readonly reading: "never" | "while sending" | "before sending again"
  /**
   * If set, each connection sends one byte at this interval in milliseconds; by default, as fast as the server reads.
   */
  readonly byteIntervalMs?: number
}

/** The result of a load. */
export interface HostileOutcome {
  /** Requests whose bytes the operating system accepted; the server discards or never reads many of them. */
  readonly requests: number
  readonly responses: number
  /** Responses with a status of 500 or more. */
  readonly serverErrors: number
  /** Number of connections that were closed during the load. */
  readonly closed: number
}

/** A load, and the port to which it is applied. */
export interface HostileTask extends HostileLoad {
  readonly port: number
}

const isOutcome: Guard<HostileOutcome> = (message): message is HostileOutcome =>
  hasNumber(message, "responses")

/** Applies a load to a port of the loopback address, from another process. */
export const apply = async (port: number, load: HostileLoad): Promise<HostileOutcome> => {
  const child = new Child({
    name: "the attacker",
    module: new URL("./Attacker.ts", import.meta.url)
  })
  try {
    const task: HostileTask = { ...load, port }
    return await child.execute(task, isOutcome, load.seconds * 1_000)
  } finally {
    await child.stop()
  }
}
