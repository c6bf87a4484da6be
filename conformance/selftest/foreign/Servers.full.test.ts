/** Runs the suite on a server in Python, and on ours without a clock. */
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Json from "../../reports/Json.ts"
import * as Servers from "./Servers.fixture.ts"

const TEN_MINUTES_MS = 600_000

describe("a server in Python", () => {
  const isMissing = !Servers.isInstalled()
  it.skipIf(isMissing)(
    `conforms at level spec${isMissing ? " (skipped: python3 is not installed)" : ""}`,
    async () => {
      const { code, output } = await Servers.testServer(await Servers.startForeign(), [])
      expect(code, output).toBe(0)
    },
    TEN_MINUTES_MS
  )
})

describe("our server", () => {
  it(
    "has no violation at level spec without a clock, but undecided checks because of the clock",
    async () => {
      const server = await Servers.startOwn({ hasClock: false })
      const { code, output } = await Servers.testServer(server, ["--json"])
      const report = Result.getOrThrow(Json.parse(output))
      expect(report.counts).toMatchObject({ fail: 0, error: 0 })
      const inconclusive = report.checks.filter(({ status }) => status === "inconclusive")
      expect(inconclusive.some(({ reason = "" }) => /clock/.test(reason))).toBe(true)
      expect(code).toBe(3)
    },
    TEN_MINUTES_MS
  )
})
