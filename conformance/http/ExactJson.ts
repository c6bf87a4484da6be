/** Parses JSON without losing digits of its numbers. */

/**
 * Parses a text; `number` turns the source of each number into its value. Throws `SyntaxError` unless the text is JSON.
 *
 * @example
 * ```ts
 * parse("[1.0]", (source) => source) // ["1.0"]
 * ```
 */
export const parse = (text: string, number: (source: string) => unknown): unknown => {
  const reviver = (_name: string, value: unknown, { source }: { readonly source: string }): unknown =>
    typeof value === "number" ? number(source) : value
  // Safe: Node has passed this third argument since version 21, but the types of ES2023 do not have it.
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}
