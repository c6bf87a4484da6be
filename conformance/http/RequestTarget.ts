/**
 * Request targets in origin form, such as `/v1/pets?limit=1`. Parts that are not replaced stay byte for byte as written,
 * because decoding a parameter and encoding it again may change its meaning.
 */

/** The target to which a URI reference resolves. */
export interface Resolved {
  readonly path: string
  /** With its question mark; empty without a query. */
  readonly query: string
  /** Whether the reference names a host. */
  readonly isAbsolute: boolean
}

/** Characters of a URI (RFC 3986 §2), with square brackets anywhere, as many servers write them. */
const uriCharacters = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*$/i

/** Scheme, authority, path, query and fragment (RFC 3986 §B). */
const uriParts = /^(?:([^:/?#]+):)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(?:#.*)?$/

/** Resolves a reference in the response to `target` (RFC 3986 §5.2); `undefined` if it is not to an HTTP resource. */
export const resolve = (reference: string, target: string): Resolved | undefined => {
  const parts = uriCharacters.test(reference) ? uriParts.exec(reference) : null
  if (parts === null) return undefined
  const [, scheme, authority, path = "", query = ""] = parts
  if (scheme !== undefined && (!/^https?$/i.test(scheme) || authority === undefined)) return undefined
  if (authority !== undefined) {
    return { path: withoutDots(path === "" ? "/" : path), query, isAbsolute: true }
  }
  const [base, baseQuery] = split(target)
  if (path === "") return { path: base, query: query === "" ? baseQuery : query, isAbsolute: false }
  const merged = path.startsWith("/") ? path : base.slice(0, base.lastIndexOf("/") + 1) + path
  return { path: withoutDots(merged), query, isAbsolute: false }
}

const split = (target: string): readonly [path: string, query: string] => {
  const at = target.indexOf("?")
  return at === -1 ? [target, ""] : [target.slice(0, at), target.slice(at)]
}

/** RFC 3986 §5.2.4, for a path that begins with a slash. */
const withoutDots = (path: string): string => {
  const kept: Array<string> = []
  const segments = path.split("/").slice(1)
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1
    if (segment === "..") kept.pop()
    if (segment !== "." && segment !== "..") kept.push(segment)
    else if (isLast) kept.push("")
  }
  return `/${kept.join("/")}`
}

/** The parts of a parameter as written. */
const parametersOf = (query: string): ReadonlyArray<readonly [name: string, written: string]> =>
  query === "" || query === "?"
    ? []
    : query
        .slice(1)
        .split("&")
        .map((written) => [nameOf(written.split("=", 1)[0] ?? ""), written])

const nameOf = (written: string): string => {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}

/** The value of a parameter as written; `undefined` without such a parameter. */
export const parameter = (target: string, name: string): string | undefined => {
  const found = parametersOf(split(target)[1]).find(([given]) => given === name)
  return found?.[1].slice(found[1].indexOf("=") + 1)
}

/** Replaces the value of a parameter with an encoded value, or appends the parameter if there is none. */
export const withParameter = (target: string, name: string, value: string | undefined): string => {
  const [path, query] = split(target)
  const given = parametersOf(query)
  const at = given.findIndex(([one]) => one === name)
  const others = given.filter(([one], index) => one !== name || index === at)
  const written = others.map(([one, as]) => (one === name ? `${name}=${value}` : as))
  const all =
    value === undefined
      ? others.filter(([one]) => one !== name).map(([, as]) => as)
      : at === -1
        ? [...written, `${name}=${value}`]
        : written
  return all.length === 0 ? path : `${path}?${all.join("&")}`
}
