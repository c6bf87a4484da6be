/**
 * Parses JSON without losing digits of its numbers. `JSON.parse` decides whether a text is JSON. The values are then
 * read from the text, because only newer platforms pass the source text of a number to a reviver.
 */

/** Matches a character that ends a number or a word. */
const END = /[\s,\]}]/g

/**
 * Parses a text in linear time; `number` turns the source of each number into its value. Throws `SyntaxError` unless
 * the text is JSON. Only the stack limits the depth, so the caller must limit it first (`JsonLimits`).
 *
 * @example
 * ```ts
 * parse("[1.0]", (source) => source) // ["1.0"]
 * ```
 */
export const parse = (text: string, number: (source: string) => unknown): unknown => {
  JSON.parse(text)
  let position = 0

  /** Moves to the next character that is not white space, and returns it. */
  const next = (): string => {
    while (" \t\n\r".includes(text.charAt(position))) position++
    return text.charAt(position)
  }

  const string = (): string => {
    const from = position
    do position = text.indexOf('"', position + 1)
    while (isEscaped(text, position))
    position++
    const isPlain = !text.slice(from, position).includes("\\")
    // Safe: the JSON of a string is a string.
    return isPlain ? text.slice(from + 1, position - 1) : (JSON.parse(text.slice(from, position)) as string)
  }

  const array = (): ReadonlyArray<unknown> => {
    const values: Array<unknown> = []
    position++
    while (next() !== "]") {
      values.push(value())
      if (next() === ",") position++
    }
    position++
    return values
  }

  const object = (): unknown => {
    const members: Array<readonly [string, unknown]> = []
    position++
    while (next() !== "}") {
      const name = string()
      next()
      position++
      members.push([name, value()])
      if (next() === ",") position++
    }
    position++
    return Object.fromEntries(members)
  }

  const value = (): unknown => {
    const first = next()
    if (first === "{") return object()
    if (first === "[") return array()
    if (first === '"') return string()
    END.lastIndex = position
    const end = END.exec(text)?.index ?? text.length
    const source = text.slice(position, end)
    position = end
    return /^[-0-9]/.test(source) ? number(source) : (literals.get(source) ?? null)
  }
  return value()
}

const literals: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false]
])

/** Whether an odd number of backslashes precedes a quote. */
const isEscaped = (text: string, quote: number): boolean => {
  let backslashes = 0
  while (text.charAt(quote - 1 - backslashes) === "\\") backslashes++
  return backslashes % 2 === 1
}
