/** Renders a badge: the verdict of a report as a small SVG image, for the README of an implementation. */
import type { Report } from "../engine/Report.ts"
import { markup } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** The colors of the badge; white text on each of them has a contrast of at least 4.5 : 1. */
const colors = { good: "#176639", bad: "#a8231c", undecided: "#7d5200", error: "#575c66" } as const

const LABEL = "animal store"

/**
 * Returns the text and the color of a badge: `conformant`, or the profiles that the subject may claim. A failure
 * outweighs every claim.
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

/** Space on both sides of a text, in px. */
const PADDING = 6

/** Returns the width of a text in px: a character of Verdana at 11 px has 6.5 px on average. */
const widthOf = (text: string): number => Math.ceil(text.length * 6.5)

/**
 * Renders the badge as an SVG image without scripts and external resources. Its title, for screen readers, has the
 * verdict, level, contract, suite and date. `textLength` fits each text into its box in every font.
 */
export const render = (report: Report): string => {
  const [text, color] = result(report)
  const { contract, level, startedAt, subject } = report
  const name = Wording.implementation(report) ?? subject.name
  const of = `${contract.name} ${contract.version}, suite ${Wording.suite(report)}, ${startedAt.slice(0, 10)}`
  const title = `${name}: ${text} at level ${level}, ${of}`
  const left = widthOf(LABEL) + 2 * PADDING
  const width = left + widthOf(text) + 2 * PADDING
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${width}" height="20" fill="${colors[color]}"/>
<rect width="${left}" height="20" fill="#3b3f46"/>
<g font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" fill="#fff">
<text x="${PADDING}" y="14" textLength="${widthOf(LABEL)}" lengthAdjust="spacingAndGlyphs">${LABEL}</text>
<text x="${left + PADDING}" y="14" textLength="${widthOf(text)}" lengthAdjust="spacingAndGlyphs">${text}</text>
</g>
</svg>
`.text
}
