import { describe, expect, it } from "vitest"
import * as PetName from "./PetName.ts"

describe("PetName.problem", () => {
  it.each([
    ["one character", "a"],
    ["255 characters", "a".repeat(255)],
    ["255 emoji, which are 510 UTF-16 code units", "😀".repeat(255)],
    ["white space around letters", " \tRex\n"],
    ["a right-to-left override", "\u202egod"],
    ["control characters other than U+0000", "\u0001\r\n\u001b[31m\u007f"],
    ["noncharacters", "\uffff\u{1fffe}"],
    ["SQL", "Robert'); DROP TABLE pets;--"],
    ["HTML", "<b>Rex</b>&amp;"],
    ["the name __proto__", "__proto__"],
    ["a zero-width space, which is not white space", "\u200b"]
  ])("returns undefined for %s", (_, name) => {
    expect(PetName.problem(name)).toBeUndefined()
  })

  it.each([
    ["an empty name", "", "must not be empty"],
    ["256 characters", "a".repeat(256), "must have at most 255 characters"],
    ["256 emoji", "😀".repeat(256), "must have at most 255 characters"],
    ["255 emoji and a letter", `${"😀".repeat(255)}a`, "must have at most 255 characters"],
    ["a long string", "a".repeat(100_000), "must have at most 255 characters"],
    ["spaces", "   ", "must not consist only of white space"],
    ["other white space", "\t\n\r\u00a0\u2003\u3000\ufeff", "must not consist only of white space"],
    ["U+0000", "\0", "must not contain the character U+0000"],
    ["U+0000 between letters", "a\0b", "must not contain the character U+0000"],
    ["a lone high surrogate", "a\ud83d", "must not contain lone surrogates"],
    ["a lone low surrogate", "\ude00a", "must not contain lone surrogates"],
    ["surrogates in the wrong order", "\ude00\ud83d", "must not contain lone surrogates"]
  ])("returns a reason for %s", (_, name, reason) => {
    expect(PetName.problem(name)).toBe(reason)
  })
})
