import { stripVTControlCharacters } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { printable } from "../http/Printable.ts"
import { hostile, report } from "./Report.arbitrary.ts"
import * as Terminal from "./Terminal.ts"
import * as Wording from "./Wording.ts"

const columns = fc.integer({ min: 40, max: 160 })

describe("Terminal.render", () => {
  it("begins with the verdict", () => {
    fc.assert(
      fc.property(report, (value) => {
        const [first] = Terminal.render(value, { columns: 10_000 }).split("\n")
        expect(first?.startsWith(printable(Wording.verdict(value)))).toBe(true)
        expect(first).toMatch(/ · .* · seed -?\d+$/)
      })
    )
  })

  it("fits into the columns, except for texts to copy", () => {
    fc.assert(
      fc.property(report, columns, (value, width) => {
        const commands = value.checks.flatMap(
          ({ counterexample }) => counterexample?.steps.map(({ curl = "" }) => printable(curl).trim()) ?? []
        )
        for (const line of Terminal.render(value, { columns: width }).split("\n")) {
          if (/^ {2}replay {4}/.test(line) || commands.includes(line.trim())) continue
          expect(Terminal.cut(line, width)).toBe(line)
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

  it("shows the probable cause within one screen of 40 lines, without the commands", () => {
    fc.assert(
      fc.property(report, (value) => {
        const commands = value.checks.flatMap(
          ({ counterexample }) => counterexample?.steps.map(({ curl = "" }) => printable(curl).trim()) ?? []
        )
        const [, first = ""] = Terminal.render({ ...value, verdict: "not-conformant" }).split("\n\n")
        const lines = first.split("\n").filter((line) => !commands.includes(line.trim()))
        expect(lines.length).toBeLessThanOrEqual(40)
      })
    )
  })
})

describe("Terminal.progress", () => {
  it("returns one line of visible characters", () => {
    fc.assert(
      fc.property(hostile, fc.nat(), (id, milliseconds) => {
        const line = Terminal.progress({ index: 1, total: 84, id, requests: 3, waitedMs: 0 }, milliseconds)
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
