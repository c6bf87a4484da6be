/** Attacks the conformance suite with servers whose bodies are too large, or take a long time to parse. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { canWatch } from "../AttackedServer.ts"
import * as CommandProcess from "../CommandProcess.ts"
import * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const bodies: ReadonlyArray<readonly [label: string, body: string]> = [
  ["8 MiB of text", `"${"x".repeat(8 * 1_024 * 1_024)}"`],
  ["four million opening brackets", "[".repeat(4_000_000)],
  [
    "an id of eight million digits",
    `[{"id":${"9".repeat(8_000_000)},"name":"x","categoryId":1,"status":"sold"}]`
  ]
]

const BUDGET_SECONDS = 5
/** Maximum seconds of a run: twice its budget, plus the time to start and to report. */
const MAX_SECONDS = 2 * BUDGET_SECONDS + 10
/** Maximum memory in megabytes; the suite itself takes about 290. */
const MAX_RSS_MB = 600

/** The expected exit codes: not conformant (1), invalid set-up (2) or inconclusive (3). */
const EXPECTED_CODES = [1, 2, 3]

export const suiteAsTarget: Scenario = {
  name: "suite-as-target",
  description: "the conformance suite against servers that send 4 to 8 MB with each response",
  databases: ["memory"],
  run: async ({ isQuick }) => {
    const findings: Array<Finding.Finding> = []
    for (const [label, body] of isQuick ? bodies.slice(0, 2) : bodies) {
      const server = http.createServer((request, response) => {
        request.resume()
        response.writeHead(200, { "content-type": "application/json" }).end(body)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      // A TCP listener's address is neither a pipe name nor null.
      const { port } = server.address() as AddressInfo
      const { code, peakRss, seconds } = await CommandProcess.run(
        [
          ...["conformance", "run", "--url", `http://127.0.0.1:${port}/v1`, "--key", "any"],
          ...["--budget", `${BUDGET_SECONDS}s`, "--level", "spec"]
        ],
        MAX_SECONDS * 1_000
      ).finally(() => {
        server.closeAllConnections()
        server.close()
      })
      findings.push(
        {
          name: `${label}: exit code`,
          figure: code === undefined ? `none after ${MAX_SECONDS} s` : String(code),
          bound: EXPECTED_CODES.join(", "),
          isWithinBound: code !== undefined && EXPECTED_CODES.includes(code),
          dependsOnLoad: code === undefined
        },
        Finding.atMost(`${label}: seconds`, seconds, MAX_SECONDS, "s"),
        canWatch
          ? Finding.atMost(`${label}: peak RSS`, peakRss / 1_000_000, MAX_RSS_MB, "MB")
          : Finding.unknown(`${label}: peak RSS`, "no /proc")
      )
    }
    return findings
  }
}
