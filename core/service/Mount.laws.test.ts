import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Mount from "./Mount.ts"

const segments = (minLength: number) =>
  fc
    .array(fc.constantFrom("animals", "v1", "v2", "shop"), { minLength, maxLength: 3 })
    .map((names) => names.map((name) => `/${name}`).join(""))

describe("Mount.prefixOf", () => {
  it("is what remains of the path before the base path, whether the host removes the base path or not", () => {
    fc.assert(
      fc.property(segments(1), segments(1), fc.boolean(), (prefix, basePath, isWhole) => {
        fc.pre(!`${prefix}${basePath}/`.startsWith(`${basePath}/`))
        fc.pre(isWhole || !prefix.endsWith(basePath))
        fc.pre(!`${basePath}/`.startsWith(`${prefix}/`))
        const mountPath = isWhole ? prefix + basePath : prefix
        expect(Mount.prefixOf(basePath, `${prefix}${basePath}/pets`, mountPath)).toBe(prefix)
      })
    )
  })

  it("is empty without a mount path, and for a path below the base path, wherever the host has mounted it", () => {
    fc.assert(
      fc.property(segments(0), segments(1), segments(0), (mountPath, basePath, path) => {
        expect(Mount.prefixOf(basePath, path)).toBe("")
        expect(Mount.prefixOf(basePath, basePath + path, mountPath)).toBe("")
      })
    )
  })

  it("is the mount path if there is no base path", () => {
    fc.assert(
      fc.property(segments(0), segments(0), (mountPath, path) => {
        expect(Mount.prefixOf("", mountPath + path, mountPath)).toBe(mountPath)
      })
    )
  })
})

describe("Mount.encode", () => {
  it("returns text that can be in a header and in JSON, and leaves other paths unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(Mount.encode(text)).toMatch(/^[!#-;=?-[\]-~]*$/)
      })
    )
    expect(Mount.encode('/animals/%7Ev1~/"<\u00e9>\\\ud800')).toBe("/animals/%7Ev1~/%22%3C%E9%3E%5C")
  })
})
