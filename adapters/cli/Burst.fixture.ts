/** Describes a burst of requests, each on its own connection, and sends it from another process. */
import { fileURLToPath } from "node:url"
import * as HostileLoad from "./HostileLoad.fixture.ts"

/** Requests that are sent at the same time. */
export interface Burst {
  readonly connections: number
  /** The bytes of the requests; each connection sends one of them, in turn. */
  readonly requests: ReadonlyArray<string>
  /** If set, connections withhold the last byte of their request for this time in milliseconds. */
  readonly withholdMs?: number
  /** Number of the first connections that withhold the last byte until their response arrives or the burst ends. */
  readonly incomplete?: number
  /** Milliseconds after which connections without a whole response are given up. */
  readonly timeoutMs: number
}

/** What became of the requests. */
export interface BurstOutcome {
  /** Number of whole responses by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Connections that were closed, or given up, without a whole response. */
  readonly unanswered: number
  /** Responses with status 503 that lack `Retry-After` or the limits of the key. */
  readonly incomplete503: number
  /** Milliseconds until the last whole response. */
  readonly ms: number
}

/** A burst, and the port to which it is sent. */
export interface BurstTask extends Burst {
  readonly port: number
}

const sender = fileURLToPath(new URL("./BurstSender.fixture.ts", import.meta.url))

/** Sends a burst to a port of the loopback address, from another process. */
export const send = (port: number, burst: Burst): Promise<BurstOutcome> =>
  HostileLoad.delegate<BurstTask, BurstOutcome>(sender, { ...burst, port })
