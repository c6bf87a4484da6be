/** Request targets (RFC 9112 §3.2) taken apart without normalising: no dots resolved, no slashes merged, no case folded. */
import { percentDecode } from "../validation/QueryString.ts"

export interface Target {
  /** With its leading slash, still percent-encoded. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
}

/** Path and query; the scheme and authority of an absolute form are dropped, they never select anything. */
export const parse = (target: string): Target => {
  const origin = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "")
  const mark = origin.indexOf("?")
  return mark < 0
    ? { path: origin, query: "" }
    : { path: origin.slice(0, mark), query: origin.slice(mark + 1) }
}

/** The path's segments, each percent-decoded once, or `undefined` when one is malformed; `%2F` never splits. */
export const segments = (path: string): ReadonlyArray<string> | undefined => {
  if (!path.startsWith("/")) return undefined
  const decoded: Array<string> = []
  for (const segment of path.slice(1).split("/")) {
    const text = percentDecode(segment)
    if (text === undefined) return undefined
    decoded.push(text)
  }
  return decoded
}
