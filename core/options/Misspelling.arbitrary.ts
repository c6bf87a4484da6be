/** Generates names with one or two typing mistakes. */
import * as fc from "fast-check"

const letter = fc.oneof(
  fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-0$."),
  fc.string({ minLength: 1, maxLength: 1, unit: "binary" })
)

type Edit = (text: string) => string

const edit: fc.Arbitrary<Edit> = fc
  .tuple(fc.constantFrom("insert", "delete", "replace"), fc.nat(), letter)
  .map(([kind, position, character]): Edit => {
    return (text) => {
      // Edits whole characters, so that no edit splits a surrogate pair.
      const characters = [...text]
      const at = position % (characters.length + 1)
      const inserted = kind === "delete" ? [] : [character]
      return characters.toSpliced(at, kind === "insert" ? 0 : 1, ...inserted).join("")
    }
  })

/** Generates a name in `known`, and a misspelling of it, one or two edits away, that is not in `known`. */
export const misspelled = (
  known: ReadonlyArray<string>
): fc.Arbitrary<readonly [name: string, given: string]> =>
  fc
    .tuple(fc.constantFrom(...known), fc.array(edit, { minLength: 1, maxLength: 2 }))
    .map(([name, edits]) => [name, edits.reduce((text, change) => change(text), name)] as const)
    .filter(([, given]) => !known.includes(given))
