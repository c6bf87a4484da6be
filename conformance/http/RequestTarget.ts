/**
 * Resolves and changes request targets in origin form, such as `/v1/pets?limit=1`. Parts that are not replaced keep
 * every byte, because decoding a parameter and encoding it again may change its meaning.
 */

/** The target to which a URI reference resolves. */
export interface Resolved {
  readonly path: string
  /** The query with its question mark; empty if there is none. */
  readonly query: string
  /** Whether the reference has a host. */
  readonly isAbsolute: boolean
}

/** Matches the characters of a URI (RFC 3986 §2); allows square brackets anywhere, as many servers do. */
const uriCharacters = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*$/i

/** Resolves a reference against `target` (RFC 3986 §5.2); returns `undefined` if it is invalid or not HTTP. */
export const resolve = (reference: string, target: string): Resolved | undefined => {
  const isAbsolute = /^(?:https?:)?\/\//i.test(reference)
  if (!uriCharacters.test(reference) || (!isAbsolute && /^[^/?#]*:/.test(reference))) return undefined
  // With a scheme that `URL` does not know, it changes no character.
  const url = URL.parse(reference.replace(/^https?:/i, ""), `origin://host${target}`)
  return url === null ? undefined : { path: url.pathname || "/", query: url.search, isAbsolute }
}

/** Splits a target into its path, and its query with the question mark. */
export const split = (target: string): readonly [path: string, query: string] => {
  const at = target.indexOf("?")
  return at === -1 ? [target, ""] : [target.slice(0, at), target.slice(at)]
}

/** Returns each parameter of a query as written, with its decoded name. */
const parametersOf = (query: string): ReadonlyArray<readonly [name: string, written: string]> =>
  query === "" || query === "?"
    ? []
    : query
        .slice(1)
        .split("&")
        .map((written) => [decode(written.split("=", 1)[0] ?? ""), written])

/** Decodes percent escapes; returns a malformed text as it is. */
export const decode = (written: string): string => {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}

/** Returns the values of all parameters, as written, each with its decoded name. */
export const parameters = (target: string): ReadonlyArray<readonly [name: string, value: string]> =>
  parametersOf(split(target)[1]).map(([name, written]) => [name, written.split("=").slice(1).join("=")])

/** Returns the value of the first parameter with this name, as written; `undefined` if there is none. */
export const parameter = (target: string, name: string): string | undefined =>
  parameters(target).find(([given]) => given === name)?.[1]

/**
 * Sets a parameter to an encoded value: replaces the first one with this name and removes the others, or appends one if
 * there is none. Removes all of them if the value is `undefined`.
 */
export const withParameter = (target: string, name: string, value: string | undefined): string => {
  const [path, query] = split(target)
  const given = parametersOf(query)
  const first = given.findIndex(([key]) => key === name)
  const replacement = value === undefined ? [] : [`${name}=${value}`]
  const all = given.flatMap(([key, written], index) =>
    key !== name ? [written] : index === first ? replacement : []
  )
  if (first === -1) all.push(...replacement)
  return all.length === 0 ? path : `${path}?${all.join("&")}`
}
