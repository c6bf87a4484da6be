/** Decodes query strings strictly, as `application/x-www-form-urlencoded` pairs (WHATWG URL §5.1). */

/** A decoded pair; `value` is empty if the pair has no `=`. */
export interface QueryParameter {
  readonly name: string
  readonly value: string
}

/** Returns the pairs in order, or `undefined` if a percent-encoding is malformed or not UTF-8. */
export const parse = (query: string): ReadonlyArray<QueryParameter> | undefined => {
  const parameters: Array<QueryParameter> = []
  for (const pair of query.replaceAll("+", " ").split("&")) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    const name = percentDecode(equals < 0 ? pair : pair.slice(0, equals))
    const value = percentDecode(equals < 0 ? "" : pair.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    parameters.push({ name, value })
  }
  return parameters
}

/** Decodes the percent-encodings of `text` once; returns `undefined` if one is malformed or not UTF-8. */
export const percentDecode = (text: string): string | undefined => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
