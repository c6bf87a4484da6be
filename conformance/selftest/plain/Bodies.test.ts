import { describe, expect, it } from "vitest"
import type { Header } from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import { created, digitsOf, rex } from "./Server.fixture.ts"

describe("PlainServer", () => {
  it("accepts or rejects names, fields, sizes and content types according to the choices", () => {
    const named = (name: string) => JSON.stringify({ name, categoryId: 1 })
    const narrow = { names: /^[ -~]{1,3}$/ }
    const names = ["", "Rex", "Rexy", "Ré"]
    expect(names.map((name) => created({}, named(name)).status)).toEqual([201, 201, 201, 201])
    expect(names.map((name) => created(narrow, named(name)).status)).toEqual([400, 201, 400, 400])
    const extra = '{"name":"Rex","categoryId":1,"colour":"red"}'
    const withId = '{"name":"Rex","categoryId":1,"id":7}'
    expect([extra, withId].map((body) => created({}, body).status)).toEqual([201, 201])
    expect([extra, withId].map((body) => created({ unknownFields: 400 }, body).status)).toEqual([400, 201])
    expect([extra, withId].map((body) => created({ sentId: 400 }, body).status)).toEqual([201, 400])
    expect(digitsOf(created({}, withId), "id")).toBe("1")
    expect(created({ largestBody: rex.length }, rex).status).toBe(201)
    expect(created({ largestBody: rex.length - 1 }, rex).status).toBe(413)
    expect(created({}, rex, [["Content-Type", "text/plain"]]).status).toBe(201)
    expect(created({ contentTypes: 415 }, rex, [["Content-Type", "text/plain"]]).status).toBe(415)
    expect(created({ contentTypes: 415 }, rex).status).toBe(415)
    const type: Header = ["content-type", "Application/JSON; charset=utf-8"]
    expect(created({ contentTypes: 415 }, rex, [type]).status).toBe(201)
  })

  it("reads int64 values exactly, and accepts 1.0 and 1e3 unless only digits are allowed", () => {
    const categoryOf = (source: string, choices: Partial<Choices> = {}) => {
      const response = created(choices, `{"name":"Rex","categoryId":${source}}`)
      return response.status === 201 ? digitsOf(response, "categoryId") : response.status
    }
    for (const [source, expected] of [
      ["9223372036854775807", "9223372036854775807"],
      ["-9223372036854775808", "-9223372036854775808"],
      ["9223372036854775808", 400],
      ["-9223372036854775809", 400],
      ["9007199254740993", "9007199254740993"],
      ["-0", "0"],
      ["1e999999999", 400],
      ["1e-999999999", 400],
      ["1.5", 400],
      ["9007199254740993.5", 400],
      ['"5"', 400],
      ["true", 400],
      ["null", 400],
      ["[1]", 400],
      ["01", 400],
      [`1${"0".repeat(100_000)}`, 400]
    ] as const) {
      expect(categoryOf(source)).toBe(expected)
      expect(categoryOf(source, { integers: "digits only" })).toBe(expected)
    }
    for (const [source, expected] of [
      ["1.0", "1"],
      ["1e3", "1000"],
      ["-12.50E1", "-125"],
      ["0e999999999", "0"],
      ["0.0000000000000000000001e22", "1"],
      ["9223372036854775807.0", "9223372036854775807"],
      ["922337203685477580.7e1", "9223372036854775807"]
    ] as const) {
      expect(categoryOf(source)).toBe(expected)
      expect(categoryOf(source, { integers: "digits only" })).toBe(400)
    }
  })
})
