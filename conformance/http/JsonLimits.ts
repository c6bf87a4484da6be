/**
 * Limits the JSON that the suite parses. Deep nesting, many values and long numbers cost a parser much more time and
 * memory than other texts of the same length. This module limits nesting and values; `PetJson` limits numbers.
 */

/** Maximum nesting depth of arrays and objects (RFC 8259 §9 lets a parser set a limit). */
const MAX_DEPTH = 100

/** Maximum number of values in a text: 500 for each animal of the longest list. */
const MAX_VALUES = 50_000

/** Matches a string, which may lack its end, or a character that begins, separates or ends values. */
const token = /"(?:[^"\\]+|\\.)*"?|[[{}\],]/gs

/** Returns a message about the limit that a text exceeds, or `undefined`. Reads the text once; it need not be JSON. */
export const exceeded = (text: string): string | undefined => {
  let depth = 0
  let values = 1
  for (const [found] of text.matchAll(token)) {
    if (found === "]" || found === "}") depth--
    if (found === "[" || found === "{") depth++
    if (found === "[" || found === "{" || found === ",") values++
    if (depth > MAX_DEPTH) return `JSON that is nested deeper than ${MAX_DEPTH} levels`
    if (values > MAX_VALUES) return `JSON of more than ${MAX_VALUES} values`
  }
  return undefined
}
