/** Defines the settings of a simulation: plain data that determines a run completely. */
import type { Delay } from "./Distributions.ts"

/** The capacity of one store. */
export interface StoreCost {
  /** CPU microseconds for a statement without members. */
  readonly statementMicros: number
  /** Additional CPU microseconds per member. */
  readonly memberMicros: number
  /** Number of cores, which is the number of statements that can run concurrently. */
  readonly cores: number
}

/** A failover of the first store. */
export interface Failover {
  /** Time of the failover in milliseconds after the start. */
  readonly atMs: number
  /** The milliseconds before the failover whose counts are lost. */
  readonly lostMs: number
  /** Milliseconds for which the store rejects all statements. */
  readonly awayMs: number
}

/** The settings of a run. */
export interface Settings {
  readonly seed: number
  readonly nodes: number
  /** Number of stores; the hash of a key selects its store. */
  readonly stores: number
  /** Requests per second that clients send to all nodes together, at random times. */
  readonly rate: number
  readonly seconds: number
  /** Epoch milliseconds of the start. */
  readonly startMs: number
  readonly keys: number
  /** Exponent of the Zipf distribution of keys; with 0, all keys are drawn equally often. */
  readonly exponent: number
  /** Share of the requests that are sent with one additional key, the hot key. */
  readonly hot: number
  /** Share of the denied requests that clients retry after `Retry-After`. */
  readonly retries: number
  readonly cost: StoreCost
  readonly network: Delay
  /** Maximum number of members in a statement. */
  readonly maxSize: number
  /** Maximum number of concurrent statements per node and store. */
  readonly concurrency: number
  /** Milliseconds after which a node responds with 503. */
  readonly timeoutMs: number
  /** The clock that the limits use. */
  readonly clock: "store" | "nodes"
  /** Maximum difference between the clocks of nodes and the true time, in milliseconds. */
  readonly skewMs: number
  readonly failover: Failover | undefined
}

/**
 * The costs of stores on one core. They reproduce measurements with statements of different sizes: PostgreSQL 15 with
 * 1, 8 and 32 members per statement, Redis 7 with 1 and 16 calls of a script in a pipeline.
 */
export const costs = {
  postgresql: { statementMicros: 325, memberMicros: 26, cores: 1 },
  redis: { statementMicros: 13, memberMicros: 8.3, cores: 1 }
} as const satisfies { readonly [name: string]: StoreCost }

/** One-way delays of messages. */
export const networks = {
  /** Within one machine. */
  local: { minMs: 0.02, meanMs: 0.02 },
  /** Within one data center. */
  zone: { minMs: 0.1, meanMs: 0.1 },
  /** Between data centers in one region. */
  region: { minMs: 0.5, meanMs: 0.5 },
  /** Between regions. */
  far: { minMs: 20, meanMs: 5 }
} as const satisfies { readonly [name: string]: Delay }

/** A small run: four nodes on one PostgreSQL server. */
export const defaults: Settings = {
  seed: 1,
  nodes: 4,
  stores: 1,
  rate: 2_000,
  seconds: 10,
  startMs: Date.UTC(2026, 10, 23, 12),
  keys: 100_000,
  exponent: 1,
  hot: 0,
  retries: 0,
  cost: costs.postgresql,
  network: networks.zone,
  maxSize: 64,
  concurrency: 2,
  timeoutMs: 1_000,
  clock: "store",
  skewMs: 0,
  failover: undefined
}
