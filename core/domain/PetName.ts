/**
 * Validates names of animals: 1 to 255 code points, not only white space, without U+0000 or lone surrogates. The
 * contract sets no rule (§2, gaps); every supported database stores these strings unchanged.
 */
import * as Schema from "effect/Schema"

/** Maximum number of code points. */
export const maxLength = 255

/** The validation message for values that are not strings. */
export const notText = "must be a string"

/** Returns why `name` is invalid, or `undefined` if it is valid. */
export const problem = (name: string): string | undefined => {
  if (name === "") return "must not be empty"
  // A code point has one or two UTF-16 code units, so code points need counting only between `maxLength` and twice that.
  if (name.length > maxLength && (name.length > maxLength * 2 || [...name].length > maxLength)) {
    return `must have at most ${maxLength} characters`
  }
  if (!/\S/.test(name)) return "must not consist only of white space"
  if (name.includes("\0")) return "must not contain the character U+0000"
  if (/\p{Surrogate}/u.test(name)) return "must not contain lone surrogates"
  return undefined
}

// For the published schema; a portable pattern cannot exclude lone surrogates.
const pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"

/** A valid name, as a schema. */
export const PetName = Schema.String.annotate({ message: notText })
  .check(
    Schema.makeFilter((name) => problem(name) ?? true, {
      toJsonSchema: () => ({ minLength: 1, maxLength, pattern })
    })
  )
  .annotate({
    description: `The animal's name: 1 to ${maxLength} characters, stored exactly as sent.`,
    examples: ["Rex"]
  })
