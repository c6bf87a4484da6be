/** Runs the suite on servers in other languages, with variations that the contract permits, and on ours without a clock. */
import { networkInterfaces } from "node:os"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Json from "../../reports/Json.ts"
import * as Servers from "./Servers.fixture.ts"

const TEN_MINUTES_MS = 600_000

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1")
)

/** Returns the reason why a variation cannot run on this machine; `undefined` if it can. */
const reasonToSkip = (language: Servers.Language, { name }: Servers.Variation): string | undefined => {
  if (!Servers.isInstalled(language)) return `${language.command} is not installed`
  return name === "ipv6" && !hasIpv6 ? "this machine has no address ::1" : undefined
}

describe.each([
  { name: "Python", language: Servers.python },
  { name: "Java", language: Servers.java }
])("a server in $name", ({ language }) => {
  for (const variation of language.variations) {
    const skipReason = reasonToSkip(language, variation)
    const title =
      variation.name === ""
        ? "conforms at level spec without a variation"
        : `conforms at level spec with the variation ${variation.name}: ${variation.differs}`
    it.skipIf(skipReason !== undefined)(
      skipReason === undefined ? title : `${title} (skipped: ${skipReason})`,
      async () => {
        const { code, output, verdict } = await Servers.testForeign(language, variation)
        expect({ code, verdict }, output).toEqual({
          code: 0,
          verdict: expect.stringMatching(/^CONFORMANT at level spec/)
        })
      },
      TEN_MINUTES_MS
    )
  }
})

describe("our server", () => {
  it(
    "is inconclusive at level spec without a clock, only because of the clock",
    async () => {
      const server = await Servers.startOwn({ hasClock: false })
      const { code, output } = await Servers.testServer(server, ["--json"])
      const report = Result.getOrThrow(Json.parse(output))
      expect(report.counts).toMatchObject({ fail: 0, error: 0 })
      const inconclusive = report.checks.filter(({ status }) => status === "inconclusive")
      expect(inconclusive.length).toBeGreaterThan(0)
      expect(inconclusive.filter(({ reason = "" }) => !/clock/.test(reason))).toEqual([])
      expect(code).toBe(3)
    },
    TEN_MINUTES_MS
  )
})
