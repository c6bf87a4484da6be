/** Attacks the conformance suite with servers whose bodies are too large, or take a long time to parse. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import * as Attack from "./Attack.fixture.ts"
import { canWatch } from "./AttackedServer.fixture.ts"
import * as CommandProcess from "./CommandProcess.fixture.ts"

const bodies: ReadonlyArray<readonly [label: string, body: string]> = [
  ["8 MiB of text", `"${"x".repeat(8 * 1_024 * 1_024)}"`],
  ["four million opening brackets", "[".repeat(4_000_000)],
  [
    "an id of eight million digits",
    `[{"id":${"9".repeat(8_000_000)},"name":"x","categoryId":1,"status":"sold"}]`
  ]
]

/** Maximum memory in megabytes; the suite itself takes about 290. */
const MAX_RSS_MB = 600

/** The expected exit codes: not conformant (1), invalid set-up (2) or inconclusive (3). */
const EXPECTED_CODES = [1, 2, 3]

it.each(Attack.isFull ? bodies : bodies.slice(0, 2))(
  "the conformance suite ends, within its memory, if each response is %s",
  async (label, body) => {
    const server = http.createServer((request, response) => {
      request.resume()
      response.writeHead(200, { "content-type": "application/json" }).end(body)
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    // A TCP listener's address is neither a pipe name nor null.
    const { port } = server.address() as AddressInfo
    const { code, peakRss } = await CommandProcess.run([
      ...["conformance", "run", "--url", `http://127.0.0.1:${port}/v1`, "--key", "any"],
      ...["--budget", "5s", "--level", "spec"]
    ])
    Attack.report(label, { "peak MB": peakRss / 1_000_000 })
    expect(EXPECTED_CODES).toContain(code)
    if (canWatch) expect(peakRss / 1_000_000).toBeLessThanOrEqual(MAX_RSS_MB)
  },
  CommandProcess.TIMEOUT_MS + 60_000
)
