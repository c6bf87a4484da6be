/** Tests complete runs of the suite, each in its own process, against servers whose responses are too large. */
import { execFile } from "node:child_process"
import { type AddressInfo, createServer, type Server } from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, describe, expect, it } from "vitest"

const program = fileURLToPath(new URL("HostileRun.fixture.ts", import.meta.url))

/**
 * Maximum memory of a run in MB. The program alone uses about 300, mostly for the compiler that strips types
 * from its sources. A run that kept complete responses in memory would use thousands.
 */
const MAX_MEMORY_MB = 600

const BUDGET_MS = 20_000

interface Outcome {
  readonly exitCode: number
  readonly errors: number
  readonly failures: number
  readonly reason: string
  readonly clause: string
  readonly reportLength: number
  readonly peak: number
}

let server: Server | undefined

afterEach(() => {
  server?.close()
  server = undefined
})

/** Runs the suite against a server that sends this body in every response; returns the outcome of the run. */
const runAgainst = async (body: string): Promise<Outcome> => {
  const head = [
    "HTTP/1.1 200 OK",
    "Content-Type: application/json",
    "X-RateLimit-Limit: 100000",
    "X-RateLimit-Remaining: 99999",
    `X-RateLimit-Reset: ${Math.floor(Date.now() / 1_000) + 600}`,
    `Content-Length: ${body.length}`
  ]
  const response = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
  const listening = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.on("data", (chunk: Buffer) => {
      if (chunk.includes("HTTP/1.1\r\n")) socket.write(response)
    })
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve))
  // Safe: the address of a server that listens on a port is an object.
  const { port } = listening.address() as AddressInfo
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    `http://127.0.0.1:${port}/v1`,
    String(BUDGET_MS)
  ])
  return JSON.parse(stdout) as Outcome // Safe: the program prints an outcome.
}

const deepObject = '{"a":'.repeat(180_000)

describe("a run of the suite", () => {
  it.each<readonly [string, () => string, string, string]>([
    ["that sends 8 MiB", () => `[${" ".repeat(8_388_606)}]`, "http.responds", "the body is longer than 1 MB"],
    ["that sends 4 million brackets", () => "[".repeat(4_000_000), "http.responds", "longer than 1 MB"],
    ["that nests 180,000 objects", () => deepObject, "resources.pet-types", "nested deeper than 100 levels"],
    [
      "that sends an id of 900,000 digits",
      () => `[{"id":${"9".repeat(900_000)},"name":"Rex","categoryId":1}]`,
      "resources.pet-types",
      "id is not an int64: a number beyond 1.8e308"
    ]
  ])(
    "ends, uses bounded memory, and reports a violation, for a server %s",
    async (_what, body, clause, reason) => {
      const outcome = await runAgainst(body())
      expect(outcome).toMatchObject({ exitCode: 1, errors: 0, clause })
      expect(outcome.reason).toContain(reason)
      expect(outcome.failures).toBeGreaterThan(0)
      expect(outcome.reportLength).toBeLessThan(1_000_000)
      expect(outcome.peak).toBeLessThan(MAX_MEMORY_MB)
    },
    600_000
  )
})
