/**
 * Name of an animal: 1 to 255 code points, not only white space, without U+0000 and lone surrogates, kept exactly
 * as sent. The contract sets no rule (§2, gaps); these are the strings that every backend stores alike.
 */
import * as Schema from "effect/Schema"

/** Most code points of a name. */
export const maxLength = 255

/** What a value that is no string must be told. */
export const notText = "must be a string"

/** Why `name` is refused, or `undefined` when it is allowed. */
export const fault = (name: string): string | undefined => {
  if (name === "") return "must not be empty"
  // A code point takes one or two UTF-16 units: only lengths in between need counting.
  if (name.length > maxLength && (name.length > maxLength * 2 || [...name].length > maxLength)) {
    return `must have at most ${maxLength} characters`
  }
  if (!/\S/.test(name)) return "must not consist of white space only"
  if (name.includes("\0")) return "must not contain the character U+0000"
  if (/\p{Surrogate}/u.test(name)) return "must not contain lone surrogates"
  return undefined
}

// For readers of the published schema; says all that a portable pattern can: lone surrogates it cannot name.
const pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"

/** A name for which `fault` finds none. */
export const PetName = Schema.String.annotate({ message: notText })
  .check(
    Schema.makeFilter((name) => fault(name) ?? true, {
      toJsonSchema: () => ({ minLength: 1, maxLength, pattern })
    })
  )
  .annotate({
    description: `The animal's name: 1 to ${maxLength} characters, stored exactly as sent.`,
    examples: ["Rex"]
  })
