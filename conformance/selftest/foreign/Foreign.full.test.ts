/** Tests that the suite accepts correct servers in other languages, with variations that the contract permits. */
import { networkInterfaces } from "node:os"
import { describe, expect, it } from "vitest"
import * as Foreign from "./Foreign.fixture.ts"

const TEN_MINUTES_MS = 600_000

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1")
)

/** Returns the reason why a variation cannot run on this machine; `undefined` if it can. */
const reasonToSkip = (language: Foreign.Language, { name }: Foreign.Variation): string | undefined => {
  if (!Foreign.isInstalled(language)) return `${language.command} is not installed`
  return name === "ipv6" && !hasIpv6 ? "this machine has no address ::1" : undefined
}

describe.each([
  { name: "Python", language: Foreign.python },
  { name: "Java", language: Foreign.java }
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
        const { code, output, verdict } = await Foreign.run(language, variation)
        expect({ code, verdict }, output).toEqual({
          code: 0,
          verdict: expect.stringMatching(/^CONFORMANT at level spec/)
        })
      },
      TEN_MINUTES_MS
    )
  }
})
