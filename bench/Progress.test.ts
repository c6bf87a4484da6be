import { describe, expect, it } from "vitest"
import { Progress } from "./Progress.ts"

const outputOf = (isTTY: boolean): string => {
  let text = ""
  const progress = new Progress(10, { isTTY, columns: 30, write: (more) => (text += more) })
  progress.begin("get")
  progress.advance(2.5)
  progress.step("round 1 of 5, a server with a long name")
  progress.note("PostgreSQL is skipped")
  progress.begin("create")
  progress.end()
  return text
}

describe("Progress", () => {
  it("rewrites one line on a terminal, truncated to the terminal's width", () => {
    const [, ...lines] = outputOf(true).split("\r\u001b[K")
    expect(lines).toEqual([
      "0:00   0%  get",
      "0:00  25%  get: round 1 of 5,",
      "PostgreSQL is skipped\n",
      "0:00  25%  create",
      ""
    ])
  })

  it("writes a line for each part if the output is not a terminal", () => {
    expect(outputOf(false)).toBe("0:00   0% get\nPostgreSQL is skipped\n0:00  25% create\n")
  })
})
