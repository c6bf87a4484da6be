/** Defines the settings of a simulation: plain data that determines a run completely. */

/**
 * The CPU microseconds of stores for a statement and for each member of it, and their number of cores, which is the
 * number of statements that can run concurrently. The costs reproduce measurements with statements of different sizes:
 * PostgreSQL 15 with 1, 8 and 32 members, Redis 7 with 1 and 16 calls of a script in a pipeline.
 */
export const costs = {
  postgresql: { statementMicros: 325, memberMicros: 26, cores: 1 },
  redis: { statementMicros: 13, memberMicros: 8.3, cores: 1 }
}

/** At `atMs`, a store loses the counts of the last `lostMs`, and then rejects all statements for `awayMs`. */
export interface Failover {
  readonly atMs: number
  readonly lostMs: number
  readonly awayMs: number
}

/** A small run: four nodes on one PostgreSQL server in the same data center. */
export const defaults = {
  seed: 1,
  nodes: 4,
  /** Number of stores; the hash of a key selects its store. */
  stores: 1,
  /** Requests per second that clients send to all nodes together, at random times. */
  rate: 2_000,
  seconds: 10,
  startMs: Date.UTC(2026, 10, 23, 12),
  /** Number of keys; a Zipf distribution with exponent 1 draws them. */
  keys: 100_000,
  /** Share of the requests that are sent with one additional key, the hot key. */
  hot: 0,
  cost: costs.postgresql,
  /** The delay of a message in milliseconds: a minimum, and the mean of an exponential distribution. */
  network: { minMs: 0.1, meanMs: 0.1 },
  /** Maximum number of members in a statement, and of concurrent statements per node and store. */
  maxSize: 64,
  concurrency: 2,
  /** Milliseconds after which a node responds with 503. */
  timeoutMs: 1_000,
  /** A failover of the first store. */
  failover: undefined as Failover | undefined
}

export type Settings = Readonly<typeof defaults>
