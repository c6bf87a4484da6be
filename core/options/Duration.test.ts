import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Duration from "./Duration.ts"

const parse = Duration.parse(0, 10 * 86_400_000)

describe("Duration", () => {
  it.each([
    ["0", 0],
    ["007d", 604_800_000],
    ["10d", 864_000_000]
  ])("parses '%s'", (text, ms) => {
    expect(parse(text)).toEqual(Result.succeed(ms))
  })

  it.each([
    "",
    "5",
    "00",
    "s",
    "1.5h",
    "-1s",
    "+1s",
    "1 h",
    " 1h",
    "1h ",
    "1h\n",
    "1H",
    "1min",
    "1h30m",
    "1e3s"
  ])("rejects %j", (text) => {
    expect(parse(text)).toEqual(Result.fail("must be a duration from 0 to 10d, such as 500ms, 30s or 24h"))
  })

  it.each([
    [0, "0"],
    [1, "1ms"],
    [1_500, "1500ms"],
    [60_000, "1m"],
    [90_000, "90s"],
    [86_400_000, "1d"],
    [90_000_000, "25h"]
  ])("formats %d ms as '%s'", (ms, text) => {
    expect(Duration.format(ms)).toBe(text)
  })
})
