import { describe, expect, it } from "vitest"
import * as Conformance from "./Conformance.ts"

describe("Conformance.server", () => {
  it.each([
    ["ftp://127.0.0.1/v1", undefined, /^url: must be an address that begins with http/],
    ["http://user:password@127.0.0.1/v1", undefined, /^url: must be an address without/],
    ["http://127.0.0.1/v1", "127.0.0.1:3001", /^clock: must be an address that begins with http/]
  ])(
    "rejects an address that is none of a server, without repeating it: %s, %s",
    async (url, clock, reason) => {
      const created = Conformance.server({ url, clock, keys: { main: "main-key-0123" } })
      const error = await created.catch((cause: unknown) => cause)
      expect(error).toMatchObject({ _tag: "SetupError", reason: expect.stringMatching(reason) })
      expect(String(error)).not.toContain("password")
    }
  )
})
