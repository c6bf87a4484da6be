import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ImplementationSetting from "./ImplementationSetting.ts"

const reasonOf = (flags: ImplementationSetting.Flags): string | undefined => {
  const resolved = ImplementationSetting.resolve(undefined, flags)
  return Result.isFailure(resolved) ? resolved.failure.message : undefined
}

const contacts = (contact: string) => reasonOf({ implementation: "Shop", contact })

describe("the implementation that is declared", () => {
  it("comes from flags first, then from the file", () => {
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

  it("has a name if it has a version or a contact", () => {
    expect(reasonOf({ implementationVersion: "2" })).toMatch(/^--implementation: /)
    expect(reasonOf({ contact: "shop@shop.example" })).toMatch(/^--implementation: /)
  })

  it("has texts of at most 100 characters", () => {
    expect(reasonOf({ implementation: "x".repeat(100) })).toBeUndefined()
    expect(reasonOf({ implementation: "x".repeat(101) })).toMatch(/^--implementation: .* 100 /)
  })

  it("has a contact that pages can link to: a mail address, or https without credentials", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["https"] }), (url) => contacts(url.slice(0, 100)) === undefined)
    )
    fc.assert(
      fc.property(fc.constantFrom("shop@shop.example", "a.b+c@x.y.z"), (mail) => contacts(mail) === undefined)
    )
    for (const wrong of [
      "javascript:alert(1)",
      "javascript:a@b.c",
      "http://shop.example",
      "https://user:word@shop.example",
      "shop",
      "a@b",
      "https://shop.example/<script>\n",
      "data:text/html,a@b.c"
    ]) {
      expect([wrong, contacts(wrong)]).toEqual([wrong, expect.stringMatching(/^--contact: /)])
    }
  })
})
