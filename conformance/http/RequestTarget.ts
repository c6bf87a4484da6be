/**
 * Request targets in origin form, such as `/v1/pets?limit=1`. Whatever is not replaced stays byte for byte as it is written:
 * to decode a parameter and to encode it again may change its meaning.
 */

/** A target that a URI reference leads to. */
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

/** What a reference in the response to `target` means (RFC 3986 §5.2); `undefined` where it is none to an HTTP resource. */
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

/** A parameter as it is written, in its parts. */
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

/** The value of a parameter as it is written; `undefined` without such a parameter. */
export const parameter = (target: string, name: string): string | undefined => {
  const found = parametersOf(split(target)[1]).find(([given]) => given === name)
  return found?.[1].slice(found[1].indexOf("=") + 1)
}

/** The target with the value of a parameter replaced by one that is written so, at its place or as the last one. */
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
