/** Provides strings that databases, drivers and collations may misinterpret; all of them are valid names. */
import * as fc from "fast-check"
import * as PetName from "../../core/domain/PetName.ts"
import * as Character from "./Character.ts"

/** Unusual strings by kind. */
export const awkward: ReadonlyArray<string> = [
  // Strings that a comparison may confuse if it ignores letter case, spaces or normalization.
  ["rex", "Rex", "rex ", " rex", "rex\u00a0", "rex\n", "caf\u00e9", "cafe\u0301"],
  ["stra\u00dfe", "strasse", "\u0130", "i\u0307", "\ufb01n", "fin"],
  // Patterns, quotes and parameters.
  ["%", "_", "re%", "re_", "[r]ex", "r*x?", "\\", "\\'", "'", '"', "`"],
  ["'; DROP TABLE pets; --", "$1", "?", ":name", "{}"],
  // Strings that look like values of other types.
  ["null", "NULL", "true", "0", "007", "1e3", "NaN", "__proto__"],
  // Unusual characters.
  ["\u0001\u001b\u007f", "a\tb\r\nc", "\u0085\u2028\u2029.", "\ufeffrex", "\ufffd\ufffe\uffff"],
  ["\u202exer", "\u200brex", "\u{1f600}", "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}", "\u{10ffff}"],
  // The longest strings.
  ["x".repeat(PetName.maxLength), `${"x".repeat(PetName.maxLength - 1)}y`],
  ["\u{1f600}".repeat(PetName.maxLength)]
].flat()

/** Generates strings of characters. `fc.string` recognizes long strings too slowly. */
const string = (unit: fc.Arbitrary<string>, lengths: fc.ArrayConstraints): fc.Arbitrary<string> =>
  fc.array(unit, lengths).map(
    (characters) => characters.join(""),
    (text) => {
      if (typeof text !== "string") throw new Error("not a string")
      return [...text]
    }
  )

const { maxLength } = PetName

/** Generates valid names, most of them unusual. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...awkward),
    string(fc.constantFrom(..."aARex0123456789 %_*?\\'\"[]^$\u00e9\u0301\u{1f600}"), {
      minLength: 1,
      maxLength: 12
    }),
    string(Character.any, { minLength: 1, maxLength: 30 }),
    string(Character.any, { minLength: maxLength, maxLength })
  )
  .filter((name) => PetName.problem(name) === undefined)

/** Formats a string for messages: as JSON, shortened in the middle. */
export const show = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 40)}…${text.slice(-10)}` : text)
