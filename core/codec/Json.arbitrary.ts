/** Generates JSON texts: valid texts in every spelling, and slightly invalid texts. */
import * as fc from "fast-check"

const whitespace = fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 2 })

const escapeOf = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })),
    fc.boolean()
  )
  .map(([unit, isUpperCase]) => {
    const hex = unit.toString(16).padStart(4, "0")
    return `\\u${isUpperCase ? hex.toUpperCase() : hex}`
  })

const plainCharacter = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom("\u2028", "\u007f", "\ud800", "\udc00")
  )
  .filter((character) => character >= " " && character !== '"' && character !== "\\")

/** A JSON string with its quotes: any character, plain or escaped, including lone surrogates. */
const stringText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      plainCharacter,
      escapeOf,
      fc.constantFrom('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t")
    ),
    { maxLength: 20 }
  )
  .map((pieces) => `"${pieces.join("")}"`)

// Names have no backslashes: once V8 (13.6) has parsed an object with the name `\`, its `JSON.parse` also parses the
// name `"` as `\`.
const nameText = fc.oneof(
  stringText.filter((text) => !JSON.parse(text).includes("\\")),
  fc
    .constantFrom("__proto__", "constructor", "prototype", "toJSON", "then", "hasOwnProperty", "0", "-1", "")
    .map((name) => JSON.stringify(name))
)

export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.integer().map(String),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  fc.constantFrom("-0", "0.0", "1E5", "1e+5", "12.50e-3", "9223372036854775807", "1e999")
)

const enclose = (open: string, items: ReadonlyArray<string>, close: string, blank: string): string =>
  open + blank + items.join(`${blank},${blank}`) + blank + close

/** Valid JSON texts with distinct names in each object, nested a few levels deep. */
export const jsonText: fc.Arbitrary<string> = fc
  .letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(stringText, numberText, fc.constantFrom("true", "false", "null")),
      fc
        .tuple(fc.array(tie("value"), { maxLength: 4 }), whitespace)
        .map(([items, blank]) => enclose("[", items, "]", blank)),
      fc
        .tuple(
          fc.uniqueArray(fc.tuple(nameText, tie("value")), {
            maxLength: 4,
            selector: ([name]): unknown => JSON.parse(name)
          }),
          whitespace
        )
        .map(([members, blank]) =>
          enclose(
            "{",
            members.map(([name, value]) => `${name}${blank}:${blank}${value}`),
            "}",
            blank
          )
        )
    )
  }))
  .value.chain((text) => fc.tuple(whitespace, whitespace).map(([before, after]) => before + text + after))

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(2),
  inserted: fc.oneof(
    fc.string({
      unit: fc.constantFrom(..."{}[]\",:\\/0123eE+-.truefalsn \t\0\u000b\u00a0\ufeff'"),
      maxLength: 2
    }),
    fc.constantFrom(
      '"a":1,',
      '"\\u0061":1,',
      "[[",
      "]]",
      "//",
      "NaN",
      "undefined",
      "\\ud83d",
      "01",
      "1.",
      ".5",
      "0x1"
    )
  )
})

/** JSON texts after a few deletions and insertions; some are still valid, some contain a duplicate name. */
export const nearlyJsonText: fc.Arbitrary<string> = fc
  .tuple(jsonText, fc.array(edit, { minLength: 1, maxLength: 3 }))
  .map(([text, edits]) =>
    edits.reduce((edited, { at, inserted, removed }) => {
      const start = Math.floor(at * edited.length)
      return edited.slice(0, start) + inserted + edited.slice(start + removed)
    }, text)
  )
