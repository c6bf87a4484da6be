/** Generates characters. */
import * as fc from "fast-check"

/** Code points that are halves of surrogate pairs, not characters: the first one, and their number. */
const [FIRST_SURROGATE, SURROGATES] = [0xd800, 0x800]

const characterAt = (index: number): string =>
  String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES)

const indexOf = (text: unknown): number => {
  const codePoint = (typeof text === "string" ? text.codePointAt(0) : undefined) ?? 0
  const index = codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES
  if (text !== characterAt(index)) throw new Error("not one character")
  return index
}

/**
 * Any Unicode character, like the unit `binary` of fast-check. Unlike that unit, it needs no table of all characters,
 * which takes a second and 250 MB when a module is loaded.
 */
export const any: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - SURROGATES }).map(characterAt, indexOf)
