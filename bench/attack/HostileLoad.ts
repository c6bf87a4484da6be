/** A hostile load as data, and the process that applies it. */
import { Child, type Guard, hasNumber } from "../http/Child.ts"

/** A load: the behaviour of each connection. */
export interface HostileLoad {
  readonly connections: number
  readonly seconds: number
  /** The bytes that each connection sends first, at once. */
  readonly opening?: string
  /** One request, as it goes over the wire; `{address}` becomes another IP address each time. */
  readonly request: string
  /** Requests that are written at once. */
  readonly pipelined: number
  /** Whether responses are read; a connection that `waits` sends again only after it has read all due responses. */
  readonly reads: boolean | "waits"
  /** Milliseconds between two bytes; without it a connection sends as fast as the server takes it. */
  readonly byteEveryMs?: number
}

/** The result of a load. */
export interface HostileOutcome {
  readonly requests: number
  readonly responses: number
  /** Responses with a status of 500 or more. */
  readonly serverErrors: number
  /** Connections that the server has closed. */
  readonly closed: number
}

export interface HostileOrder extends HostileLoad {
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
    const order: HostileOrder = { ...load, port }
    return await child.ask(order, isOutcome, load.seconds * 1_000)
  } finally {
    await child.stop()
  }
}
