/** Draws what the calls of several ports have in common: choices with weights, and strings that stores may misread. */
import * as fc from "fast-check"
import * as PetName from "../../core/domain/PetName.ts"

/** Chooses among arbitraries, each with its weight. */
export const weighted = <A>(...choices: ReadonlyArray<readonly [number, fc.Arbitrary<A>]>): fc.Arbitrary<A> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** Chooses one of the names of a table. */
export const nameOf = <Table extends object>(table: Table): fc.Arbitrary<keyof Table & string> =>
  fc.constantFrom(...(Object.keys(table) as Array<keyof Table & string>)) // exactly its keys

/** For records that stores receive, because those of users have a prototype. */
export const usual = { noNullPrototype: true } as const

/** Strings that databases, drivers and collations may misinterpret, by kind; all of them are valid names. */
const awkward: ReadonlyArray<string> = [
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

/** Any code point. The unit `binary` of fast-check needs a second and 250 MB for a table of all characters. */
const codePoint = fc.nat(0x10_ff_ff)
const similar = fc.constantFrom(
  ...Array.from("aARex0123456789 %_*?\\'\"[]^$\u00e9\u0301\u{1f600}", (each) => each.codePointAt(0) ?? 0)
)

/** Generates strings of code points. `fc.string` recognizes long strings too slowly. */
const string = (unit: fc.Arbitrary<number>, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(unit, { minLength, maxLength }).map(
    (codePoints) => String.fromCodePoint(...codePoints),
    (text) => {
      if (typeof text !== "string") throw new Error("not a string")
      return Array.from(text, (character) => character.codePointAt(0) ?? 0)
    }
  )

/** Generates valid names, most of them unusual. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...awkward),
    string(similar, 1, 12),
    string(codePoint, 1, 30),
    string(codePoint, PetName.maxLength, PetName.maxLength)
  )
  .filter((name) => PetName.problem(name) === undefined)

/** Formats a string for messages: as JSON, shortened in the middle. */
export const show = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 40)}…${text.slice(-10)}` : text)
