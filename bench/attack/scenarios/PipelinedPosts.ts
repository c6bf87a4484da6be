/** Sends large bodies without a key, and does not wait for responses. */
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import * as Siege from "../Siege.ts"

export const pipelinedPosts: Scenario = {
  name: "pipelined-posts",
  description: "20 connections pipeline 60 kB POSTs without a key",
  databases: ["SQLite", "memory", "PostgreSQL"],
  run: ({ isQuick }, database) =>
    Siege.run(
      {
        load: () => ({
          connections: 20,
          seconds: isQuick ? 3 : 60,
          request: Requests.post(60_000),
          pipelined: 1,
          reading: "while sending"
        })
      },
      { isQuick },
      database
    )
}
