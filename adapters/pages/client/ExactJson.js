/** JSON as text: numbers are never parsed, so an int64 keeps all its digits. */

/** Matches a string, a punctuation mark, a number or a word. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/gs

/**
 * Returns JSON text with an indentation of two spaces and every value exactly as it was written; `undefined` if the
 * text is not JSON.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
export const prettyPrint = (text) => {
  if (!isJson(text)) return undefined
  /** @type {Array<string>} */
  const parts = []
  let depth = 0
  let previous = ""
  for (const [part] of text.matchAll(token)) {
    const isClosing = part === "]" || part === "}"
    const isAfterOpening = previous === "[" || previous === "{"
    if (isClosing) depth--
    // Empty arrays and objects stay on one line.
    if (isClosing ? !isAfterOpening : isAfterOpening || previous === ",") parts.push("\n", "  ".repeat(depth))
    parts.push(part === ":" ? ": " : part)
    if (part === "[" || part === "{") depth++
    previous = part
  }
  return parts.join("")
}

/** @param {string} text */
const isJson = (text) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
