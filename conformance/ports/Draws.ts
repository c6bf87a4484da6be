/** Draws what the calls of several ports have in common: choices with weights, texts, and results of functions. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as PetName from "../../core/domain/PetName.ts"

/** Chooses among arbitraries, each with its weight. */
export const weighted = <A>(...choices: ReadonlyArray<readonly [number, fc.Arbitrary<A>]>): fc.Arbitrary<A> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** For records that stores receive, because those of users have a prototype. */
export const usual = { noNullPrototype: true } as const

/** Strings that databases, drivers and collations may misinterpret; all of them are valid names. */
const awkward: ReadonlyArray<string> = [
  // Strings that a comparison may confuse if it ignores letter case, spaces or normalization.
  ...["rex", "Rex", "rex ", " rex", "rex\u00a0", "rex\n", "caf\u00e9", "cafe\u0301"],
  ...["stra\u00dfe", "strasse", "\u0130", "i\u0307", "\ufb01n", "fin"],
  // Patterns, quotes and parameters.
  ...["%", "_", "re%", "re_", "[r]ex", "r*x?", "\\", "\\'", "'", '"', "`"],
  ...["'; DROP TABLE pets; --", "$1", "?", ":name", "{}"],
  // Strings that look like values of other types.
  ...["null", "NULL", "true", "0", "007", "1e3", "NaN", "__proto__"],
  // Unusual characters.
  ...["\u0001\u001b\u007f", "a\tb\r\nc", "\u0085\u2028\u2029.", "\ufeffrex", "\ufffd\ufffe\uffff"],
  ...["\u202exer", "\u200brex", "\u{1f600}", "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}", "\u{10ffff}"],
  // The longest strings.
  ...["x", "\u{1f600}"].map((longest) => longest.repeat(PetName.maxLength))
]

/** Any code point. The unit `binary` of fast-check needs a second and 250 MB for a table of all characters. */
const codePoint = fc.noShrink(fc.nat(0x10_ff_ff).map((point) => String.fromCodePoint(point)))
const similar = fc.constantFrom(...Array.from("aARex0123456789 %_*?\\'\"[]^$\u00e9\u0301\u{1f600}"))

/** Generates valid names, most of them unusual. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...awkward),
    fc.string({ unit: similar, minLength: 1, maxLength: 12 }),
    fc.string({ unit: codePoint, minLength: 1, maxLength: 30 }),
    fc.string({ unit: codePoint, minLength: 1, maxLength: PetName.maxLength, size: "max" })
  )
  .filter((name) => PetName.problem(name) === undefined)

/** Results of a caller's function that a store might inspect by mistake. */
export const result: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({ maxDepth: 1 }),
  fc.constantFrom(undefined, null, () => 1, Symbol("result"), 2n ** 70n, new Error("a result")),
  fc.constantFrom(Effect.fail("a result"), Option.none())
)

/** Formats a string for messages: as JSON, shortened in the middle. */
export const show = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 40)}…${text.slice(-10)}` : text)
