/** Intervals of what is not known exactly: the time of a request, or the number of requests left. */

export interface Span {
  readonly lo: number
  readonly hi: number
}

export const span = (lo: number, hi: number = lo): Span => ({ lo, hi })

export const plus = (a: Span, b: Span | number): Span =>
  typeof b === "number" ? span(a.lo + b, a.hi + b) : span(a.lo + b.lo, a.hi + b.hi)

export const hull = (a: Span, b: Span): Span => span(Math.min(a.lo, b.lo), Math.max(a.hi, b.hi))

/** What both intervals contain; `undefined` if they have nothing in common. */
export const common = (a: Span, b: Span): Span | undefined => {
  const [lo, hi] = [Math.max(a.lo, b.lo), Math.min(a.hi, b.hi)]
  return lo <= hi ? { lo, hi } : undefined
}

export const show = ({ hi, lo }: Span): string => (lo === hi ? String(lo) : `${lo} to ${hi}`)
