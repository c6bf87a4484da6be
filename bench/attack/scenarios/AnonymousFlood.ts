/** Sends each request without a key from a new network, so that each needs a new rate-limit state. */
import * as Finding from "../Finding.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import * as Siege from "../Siege.ts"

/** Maximum number of network states; the load would fill the default of 100,000 (27 MB) within seconds. */
const MAX_STATES = "50000"

/** Heap limit in megabytes; with unlimited states, those of 416,000 networks, 371 bytes each, exhausted it. */
const HEAP_MB = 128

export const anonymousFlood: Scenario = {
  name: "anonymous-flood",
  description:
    "64 connections send each request from a new network, behind one trusted proxy, 128 MB of heap, 50,000 states",
  databases: ["memory", "SQLite", "PostgreSQL"],
  run: ({ isQuick }, database) =>
    Siege.run(
      {
        heapMb: HEAP_MB,
        arguments: ["--trusted-proxy-hops", "1", "--max-anonymous-states", MAX_STATES],
        load: () => ({
          connections: 64,
          seconds: isQuick ? 4 : 60,
          request: Requests.get("/v1/pets", "X-Forwarded-For: {address}"),
          pipelined: 10,
          reading: "before sending again"
        }),
        findings: ({ responses, serverErrors }) => [
          Finding.measured("networks", responses),
          Finding.equal("responses with 5xx", serverErrors, 0)
        ]
      },
      { isQuick },
      database
    )
}
