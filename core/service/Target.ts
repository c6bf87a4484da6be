/** Parses request targets (RFC 9112 §3.2) without normalizing dots, slashes or case. */
import { percentDecode } from "../codec/QueryString.ts"

export interface Target {
  /** The path with its leading slash, percent-encoded. */
  readonly path: string
  /** The query without the question mark; empty if absent. */
  readonly query: string
}

/** Splits a target into path and query; ignores the scheme and authority of an absolute form. */
export const parse = (target: string): Target => {
  const originForm = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "")
  const mark = originForm.indexOf("?")
  return mark < 0
    ? { path: originForm, query: "" }
    : { path: originForm.slice(0, mark), query: originForm.slice(mark + 1) }
}

/**
 * Returns the percent-decoded segments of a path, or `undefined` if the path does not start with `/` or a segment is
 * malformed. `%2F` does not split a segment.
 */
export const segments = (path: string): ReadonlyArray<string> | undefined => {
  if (!path.startsWith("/")) return undefined
  const sent = path.slice(1).split("/")
  if (!path.includes("%")) return sent
  const decoded = sent.map(percentDecode).filter((text) => text !== undefined)
  return decoded.length === sent.length ? decoded : undefined
}
