import { stripVTControlCharacters } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { printable } from "../http/Printable.ts"
import { hostile, report, withHarmlessTexts } from "./Report.arbitrary.ts"
import * as Terminal from "./Terminal.ts"
import * as Wording from "./Wording.ts"

const columns = fc.integer({ min: 40, max: 160 })

describe("Terminal.render", () => {
  it("ends with the verdict", () => {
    fc.assert(
      fc.property(report, columns, (value, width) => {
        expect(Terminal.render(value, { columns: width }).split("\n").at(-1)).toBe(Wording.headline(value))
      })
    )
  })

  it("fits into the columns, except for texts to copy and the verdict", () => {
    fc.assert(
      fc.property(report, columns, (value, width) => {
        const lines = Terminal.render(value, { columns: width }).split("\n").slice(0, -1)
        for (const line of lines) {
          if (/^ {6}(replay|script) {4}/.test(line)) continue
          expect(Terminal.widthOf(line)).toBeLessThanOrEqual(width)
        }
      })
    )
  })

  it("writes no control sequence, and no invisible or bidirectional character", () => {
    fc.assert(
      fc.property(report, (value) => {
        for (const line of Terminal.render(value).split("\n")) expect(line).toBe(printable(line))
      })
    )
  })

  it("has the same text with and without color", () => {
    fc.assert(
      fc.property(report, (value) => {
        expect(stripVTControlCharacters(Terminal.render(value, { color: true }))).toBe(Terminal.render(value))
      })
    )
  })

  it("names all checks except passed and excluded checks, and shows each replay token in full", () => {
    fc.assert(
      fc.property(report.map(withHarmlessTexts), (value) => {
        const words = new Set(Terminal.render(value).split(/[\s,:]+/))
        for (const { id, status } of value.checks) {
          const isNamed = ["fail", "warn", "inconclusive", "error", "not-applicable"].includes(status)
          expect([id, words.has(id)]).toEqual([id, isNamed])
        }
        const failed = value.checks.filter(({ status }) => status === "fail")
        for (const [{ counterexample }] of Wording.byCause(failed).slice(0, 8)) {
          if (counterexample !== undefined) expect(words).toContain(counterexample.token)
        }
      })
    )
  })
})

describe("Terminal.progress", () => {
  it("returns one line that fits into the columns", () => {
    fc.assert(
      fc.property(hostile, fc.nat({ max: 200 }), fc.nat(), (id, width, milliseconds) => {
        const line = Terminal.progress({ done: 1, planned: 84, id, requests: 3, milliseconds }, width)
        expect(Terminal.widthOf(line)).toBeLessThanOrEqual(width)
        expect(line).toBe(printable(line))
      })
    )
  })
})

describe("printable", () => {
  it("returns one line of visible characters, which it does not change again", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = printable(text)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        expect(printable(shown)).toBe(shown)
      })
    )
  })
})
