/**
 * Limits the JSON that the suite parses. Deep nesting, many values and long numbers cost a parser much more time and
 * memory than other texts of the same length. This module limits nesting and values; `PetJson` limits numbers.
 */

/** Maximum nesting depth of arrays and objects (RFC 8259 §9 lets a parser set a limit). */
export const MAX_DEPTH = 100

/** Maximum number of values in a text: 500 for each animal of the longest list. */
export const MAX_VALUES = 50_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Returns a message about the limit that a text exceeds, or `undefined`. Reads the text once; it need not be JSON. */
export const exceeded = (text: string): string | undefined => {
  let depth = 0
  let values = 1
  let isInString = false
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (isInString) {
      if (unit === BACKSLASH) index++
      else if (unit === QUOTE) isInString = false
      continue
    }
    switch (unit) {
      case QUOTE:
        isInString = true
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        values++
        if (++depth > MAX_DEPTH) return `JSON that is nested deeper than ${MAX_DEPTH} levels`
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--
        break
      case COMMA:
        values++
        break
    }
    if (values > MAX_VALUES) return `JSON of more than ${MAX_VALUES} values`
  }
  return undefined
}
