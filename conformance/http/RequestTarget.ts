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

/** Decodes percent escapes; returns a malformed text as it is. */
export const decode = (written: string): string => {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}

/** Returns the parameters of a target: each with its decoded name, its value as written, and all of it as written. */
export const parameters = (
  target: string
): ReadonlyArray<readonly [name: string, value: string, written: string]> => {
  const query = split(target)[1].slice(1)
  return (query === "" ? [] : query.split("&")).map((written) => {
    const [name = "", ...value] = written.split("=")
    return [decode(name), value.join("="), written]
  })
}

/** Sets a parameter to an encoded value, as the last one; removes it if the value is `undefined`. */
export const withParameter = (target: string, name: string, value: string | undefined): string => {
  const others = parameters(target).filter(([given]) => given !== name)
  const all = [
    ...others.map(([, , written]) => written),
    ...(value === undefined ? [] : [`${name}=${value}`])
  ]
  return `${split(target)[0]}${all.length === 0 ? "" : `?${all.join("&")}`}`
}
