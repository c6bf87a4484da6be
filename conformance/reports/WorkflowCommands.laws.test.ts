import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Report } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Html from "./Html.ts"
import * as Json from "./Json.ts"
import * as JUnit from "./JUnit.ts"
import { report } from "./Report.arbitrary.ts"
import * as Terminal from "./Terminal.ts"

const renderings: { readonly [name: string]: (value: Report) => string } = {
  "a terminal": (value) => Terminal.render(value),
  "a narrow terminal": (value) => Terminal.render(value, { columns: 40 }),
  JUnit: JUnit.render,
  HTML: Html.render,
  JSON: Json.render,
  "JSON in one line": Json.line
}

/**
 * Whether a line contains a command: `::` at its start for GitHub Actions, which trims it; `##` anywhere for other
 * services.
 */
const hasCommand = (line: string): boolean => /^\s*::/.test(line) || /##(?:vso|teamcity)?\[/i.test(line)

const control = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const harmfulLines = (text: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => hasCommand(line) || control.test(line))

describe("a report in the log of a CI service", () => {
  it.each(Object.entries(renderings))(
    "contains no command and no control character if it is rendered for %s",
    (_name, render) => {
      fc.assert(
        fc.property(report, (value) => {
          expect(harmfulLines(render(value))).toEqual([])
        })
      )
    }
  )

  it.each([
    ["::error::broken", "\\u{3a}:error::broken"],
    ["\u00a0 ::warning::", "\u00a0 \\u{3a}:warning::"],
    ["got ::1 from std::vector", "got ::1 from std::vector"],
    ["a ##vso[task.complete]", "a #\\u{23}vso[task.complete]"],
    ["###[error]", "##\\u{23}[error]"],
    ["# ## [x] ##vs[", "# ## [x] ##vs["]
  ])("shows %j as %s", (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it("escapes a command that a line break moves to the beginning of a line", () => {
    const [failed] = fc.sample(report, 1)
    if (failed === undefined) throw new Error("no report was generated")
    const finding = `${"x".repeat(40)}::stop-commands::token`
    const lines = Terminal.render(
      { ...failed, verdict: "error", checks: [], causes: [], choices: [], findings: [finding] },
      { columns: 40 }
    ).split("\n\n")[1]
    expect(lines?.split("\n").slice(0, 2)).toEqual(["x".repeat(40), "\\u{3a}:stop-commands::token"])
  })
})
