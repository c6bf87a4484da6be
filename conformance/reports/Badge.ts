/** Renders a badge: the verdict of a report as a small SVG image, for the README of an implementation. */
import type { Report } from "../engine/Report.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** The colors of the badge; white text on each of them has a contrast of at least 4.5 : 1. */
const colors = { good: "#176639", bad: "#a8231c", undecided: "#7d5200", error: "#575c66" } as const

const LABEL = "animal store"

/**
 * Returns the text and the color of a badge: `conformant`, or the profiles that the subject may claim. A failure
 * outweighs every claim.
 *
 * @example
 * ```ts
 * result(report) // ["conformant: core, auth", "good"]
 * ```
 *
 * @internal
 */
export const result = ({
  claims,
  verdict
}: Pick<Report, "claims" | "verdict">): readonly [text: string, color: keyof typeof colors] => {
  if (verdict === "conformant") return ["conformant", "good"]
  if (verdict === "not-conformant") return ["not conformant", "bad"]
  if (verdict === "error") return ["error", "error"]
  return claims.length > 0 ? [`conformant: ${claims.join(", ")}`, "good"] : ["inconclusive", "undecided"]
}

/** Space on both sides of a text, and the average width of a character in Verdana at 11 px, in px. */
const [PADDING, WIDTH] = [6, 6.5]

/** Returns a box with a text, which `textLength` fits into it in every font. */
const box = (x: number, shown: string, color: string) => {
  const length = Math.ceil([...shown].length * WIDTH)
  const width = length + 2 * PADDING
  const text = `<text x="${x + PADDING}" y="14" textLength="${length}" fill="#fff" lengthAdjust="spacingAndGlyphs">${escaped(shown)}</text>`
  return { width, svg: `<rect x="${x}" width="${width}" height="20" fill="${color}"/>\n${text}` }
}

/** Renders the badge as an SVG image with a title for screen readers, without scripts and external resources. */
export const render = (report: Report): string => {
  const [text, color] = result(report)
  const left = box(0, LABEL, "#3b3f46")
  const right = box(left.width, text, colors[color])
  const width = left.width + right.width
  const title = escaped(titleOf(report, text))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${title}">
<title>${title}</title>
<g font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
${left.svg}
${right.svg}
</g>
</svg>
`
}

/** Returns the verdict with its level, contract, suite and date, such as `Shop 2.1: conformant at level spec, …`. */
const titleOf = (report: Report, text: string): string => {
  const name = Wording.implementation(report) ?? report.subject.name
  return [
    `${name}: ${text} at level ${report.level}`,
    `${report.contract.name} ${report.contract.version}`,
    `suite ${Wording.suite(report)}`,
    report.startedAt.slice(0, 10)
  ].join(", ")
}
