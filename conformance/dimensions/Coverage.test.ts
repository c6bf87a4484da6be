import { describe, expect, it } from "vitest"
import * as Coverage from "./Coverage.ts"
import * as Product from "./Product.ts"

const product = Product.of(
  { size: { one: 1, many: 2 }, color: { red: 1, green: 2, blue: 3 }, place: { here: 1, there: 2 } },
  ({ color, size }) => !(size === "one" && color === "blue")
)

describe("Coverage.of", () => {
  it("counts every value and pair if all examples of the product were tried", () => {
    expect(Coverage.inWords(Coverage.of(product.shape, product.examples))).toBe(
      "size 2/2, color 3/3, place 2/2, pairs 15 of 15"
    )
  })

  it("counts only tried values and pairs, even if a case lacks a dimension", () => {
    const tried = [{ size: "one", color: "red" }, { place: "here" }]
    expect(Coverage.inWords(Coverage.of(product.shape, tried))).toBe(
      "size 1/2, color 1/3, place 1/2, pairs 1 of 15"
    )
    expect(Coverage.inWords(Coverage.of(product.shape, []))).toBe(
      "size 0/2, color 0/3, place 0/2, pairs 0 of 15"
    )
  })
})

describe("Product.of", () => {
  it("returns no example with an excluded pair", () => {
    expect(product.examples.filter(({ color, size }) => size === "one" && color === "blue")).toEqual([])
  })
})
