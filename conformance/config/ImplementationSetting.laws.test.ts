import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ImplementationSetting from "./ImplementationSetting.ts"

const reasonOf = (flags: ImplementationSetting.Flags): string | undefined => {
  const resolved = ImplementationSetting.resolve(undefined, flags)
  return Result.isFailure(resolved) ? resolved.failure.message : undefined
}

const reasonOfContact = (contact: string) => reasonOf({ implementation: "Shop", contact })

describe("ImplementationSetting.resolve", () => {
  it("takes each member from its flag, or from the file if the flag is absent", () => {
    const file = { name: "Shop", version: "1", contact: "shop@shop.example" }
    expect(Result.getOrThrow(ImplementationSetting.resolve(file, {}))).toEqual(file)
    expect(Result.getOrThrow(ImplementationSetting.resolve(file, { implementationVersion: "2" }))).toEqual({
      ...file,
      version: "2"
    })
    expect(Result.getOrThrow(ImplementationSetting.resolve(undefined, {}))).toBeUndefined()
    expect(Result.getOrThrow(ImplementationSetting.resolve(undefined, { implementation: "Shop" }))).toEqual({
      name: "Shop"
    })
  })

  it("rejects a version or a contact without a name", () => {
    expect(reasonOf({ implementationVersion: "2" })).toMatch(/^--implementation: /)
    expect(reasonOf({ contact: "shop@shop.example" })).toMatch(/^--implementation: /)
  })

  it("rejects a text of more than 100 characters", () => {
    expect(reasonOf({ implementation: "x".repeat(100) })).toBeUndefined()
    expect(reasonOf({ implementation: "x".repeat(101) })).toMatch(/^--implementation: .* 100 /)
  })

  it("accepts only an email address or an https URL without credentials as the contact", () => {
    fc.assert(
      fc.property(
        fc.webUrl({ validSchemes: ["https"] }),
        (url) => reasonOfContact(url.slice(0, 100)) === undefined
      )
    )
    fc.assert(
      fc.property(
        fc.constantFrom("shop@shop.example", "a.b+c@x.y.z"),
        (mail) => reasonOfContact(mail) === undefined
      )
    )
    for (const invalid of [
      "javascript:alert(1)",
      "javascript:a@b.c",
      "http://shop.example",
      "https://user:word@shop.example",
      "shop",
      "a@b",
      "https://shop.example/<script>\n",
      "data:text/html,a@b.c"
    ]) {
      expect([invalid, reasonOfContact(invalid)]).toEqual([invalid, expect.stringMatching(/^--contact: /)])
    }
  })
})
