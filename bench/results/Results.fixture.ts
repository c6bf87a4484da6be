/** Creates results for tests. */

import type { Spread } from "../Spread.ts"
import { type Results, SCHEMA } from "./Results.ts"

const about = (median: number): Spread => ({ median, low: median * 0.9, high: median * 1.1 })

/** CPU microseconds per request, by case and server. */
export interface Micros {
  readonly [name: string]: { readonly [server: string]: number }
}

/** Creates the results of a run with these CPU times; servers named "AnimalStore…" belong to this project. */
export const resultsOf = (micros: Micros): Results => {
  const names = [...new Set(Object.values(micros).flatMap((servers) => Object.keys(servers)))]
  return {
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
        rounds: 5,
        processWarmUp: { requests: 40_000, seconds: 4 },
        caseWarmUp: { requests: 20_000, seconds: 1 },
        turn: { requests: 2_000, seconds: 0.3 }
      },
      servers: names.map((name) => ({
        name,
        what: `description of ${name}`,
        isOurs: name.startsWith("AnimalStore"),
        isDurable: name === "AnimalStore SQLite"
      })),
      skipped: [{ name: "AnimalStore PostgreSQL", reason: "connection refused" }],
      cases: Object.entries(micros).map(([name, servers]) => ({
        name,
        servers: Object.entries(servers).map(([server, cpu]) => ({
          server,
          cpuMicros: about(cpu),
          ratio: about(cpu / (servers.Bare ?? Number.NaN)),
          perSecond: about(1e6 / cpu)
        }))
      }))
    }
  }
}
