/** Creates results for tests. */

import { type Results, SCHEMA } from "./Results.ts"

/** CPU microseconds per request in each round, by case and server. */
export interface Micros {
  readonly [name: string]: { readonly [server: string]: ReadonlyArray<number> }
}

/** Creates the results of a run with these CPU times. */
export const resultsOf = (micros: Micros): Results => ({
  schema: SCHEMA,
  date: "2026-11-21T12:00:00.000Z",
  seconds: 600,
  machine: {
    cpu: "A processor",
    cores: 2,
    memoryBytes: 8 * 2 ** 30,
    platform: "Linux 6.1 x64",
    node: "v24.21.0",
    isPinned: true
  },
  versions: { fastify: "5.12.8" },
  isQuick: false,
  http: {
    options: {
      rounds: 3,
      processWarmUp: { requests: 40_000, seconds: 4 },
      caseWarmUp: { requests: 20_000, seconds: 1 },
      turn: { requests: 2_000, seconds: 0.3 }
    },
    skipped: [{ name: "AnimalStore PostgreSQL", reason: "connection refused" }],
    cases: Object.entries(micros).map(([name, servers]) => ({
      name,
      servers: Object.entries(servers).map(([server, rounds]) => ({
        server,
        turns: rounds.map((cpuMicros) => ({ cpuMicros, perSecond: 1e6 / cpuMicros }))
      }))
    }))
  }
})
