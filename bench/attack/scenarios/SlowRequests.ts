/** Sends requests byte by byte, so that each occupies a connection for as long as possible. */
import * as Finding from "../Finding.ts"
import * as Requests from "../Requests.ts"
import type { Scenario } from "../Scenario.ts"
import * as Siege from "../Siege.ts"

const CONNECTIONS = 1_000

/** Timeouts of the server in seconds: for the header section, and for a whole request. */
const HEADERS_SECONDS = 10
const REQUEST_SECONDS = 30
/** Additional seconds: timeouts are checked once a second, and a closed connection lingers for a second. */
const SLACK_SECONDS = 5

/** Checks that every connection was closed, in runs that are longer than the timeouts. */
const closedConnections =
  (isQuick: boolean): NonNullable<Siege.Siege["findings"]> =>
  ({ closed }) => [
    isQuick
      ? Finding.unknown("connections closed", "a quick run ends before the timeouts")
      : Finding.atLeast("connections closed", closed, CONNECTIONS)
  ]

export const slowHeaders: Scenario = {
  name: "slow-headers",
  description: "1,000 connections send a header section byte by byte, two per second",
  databases: ["SQLite"],
  run: ({ isQuick }, database) =>
    Siege.run(
      {
        load: () => ({
          connections: CONNECTIONS,
          seconds: isQuick ? 3 : HEADERS_SECONDS + SLACK_SECONDS,
          request: Requests.get("/v1/pets", `X-Padding: ${"x".repeat(1_000)}`),
          pipelined: 1,
          reading: "while sending",
          byteIntervalMs: 500
        }),
        findings: closedConnections(isQuick)
      },
      { isQuick },
      database
    )
}

export const slowBodies: Scenario = {
  name: "slow-bodies",
  description: "1,000 connections with a key send a body byte by byte, two per second",
  databases: ["SQLite"],
  run: ({ isQuick }, database) =>
    Siege.run(
      {
        load: (key) => {
          const [head = "", body = ""] = Requests.post(1_000, `Authorization: Bearer ${key}`).split(
            "\r\n\r\n"
          )
          return {
            connections: CONNECTIONS,
            seconds: isQuick ? 3 : REQUEST_SECONDS + SLACK_SECONDS,
            opening: `${head}\r\n\r\n`,
            request: body,
            pipelined: 1,
            reading: "while sending",
            byteIntervalMs: 500
          }
        },
        findings: closedConnections(isQuick)
      },
      { isQuick },
      database
    )
}
