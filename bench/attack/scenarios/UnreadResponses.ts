/** Sends small requests for large responses, and never reads them. */
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import * as Siege from "../Siege.ts"

export const unreadResponses: Scenario = {
  name: "unread-responses",
  description: "150 connections pipeline GET /openapi.json and never read, 512 MB of heap",
  databases: ["SQLite", "memory"],
  run: ({ isQuick }, database) =>
    Siege.run(
      {
        heapMb: 512,
        load: () => ({
          connections: 150,
          seconds: isQuick ? 3 : 60,
          request: Requests.get("/openapi.json"),
          pipelined: 500,
          reading: "never"
        })
      },
      { isQuick },
      database
    )
}
