/** Draws bars as SVG, readable on light and dark backgrounds. */

/** One bar; `low` and `high` are shown as a whisker. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly low: number
  readonly high: number
  readonly isOurs: boolean
}

/** Horizontal bars in groups. */
export interface Bars {
  readonly title: string
  readonly groups: ReadonlyArray<{ readonly name: string; readonly bars: ReadonlyArray<Bar> }>
  /** Formats the text at the end of a bar. */
  readonly show: (value: number) => string
}

// Medium tones, because the background of the page is unknown.
const TEXT = "#6e7781"
const OURS = "#2f81f7"
const OTHERS = "#8c959f"

const WIDTH = 720
const LEFT = 190
const RIGHT = 80
const ROW = 18
const TITLE = 36

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const round = (value: number): string => String(Math.round(value * 10) / 10)

const text = (x: number, y: number, anchor: "start" | "end", content: string, weight = "normal"): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-weight="${weight}">${escaped(content)}</text>`

export const draw = ({ groups, show, title }: Bars): string => {
  const max = Math.max(
    ...groups.flatMap(({ bars }) => bars.map(({ high, value }) => Math.max(value, high))),
    0
  )
  const scale = (WIDTH - LEFT - RIGHT) / (max || 1)
  const content: Array<string> = []
  let y = TITLE
  for (const { bars, name } of groups) {
    content.push(text(8, y + 13, "start", name, "bold"))
    y += ROW + 2
    for (const { high, isOurs, label, low, value } of bars) {
      const middle = y + ROW / 2
      content.push(
        text(LEFT - 8, y + 13, "end", label, isOurs ? "bold" : "normal"),
        `<rect x="${LEFT}" y="${y + 2}" width="${round(value * scale)}" height="${ROW - 4}" fill="${isOurs ? OURS : OTHERS}"/>`,
        `<line x1="${round(LEFT + low * scale)}" x2="${round(LEFT + high * scale)}" y1="${middle}" y2="${middle}" stroke="${TEXT}"/>`,
        text(LEFT + Math.max(value, high) * scale + 6, y + 13, "start", show(value))
      )
      y += ROW
    }
    y += 8
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT}">`,
    `<title>${escaped(title)}</title>`,
    text(8, 20, "start", title, "bold"),
    ...content,
    "</svg>",
    ""
  ].join("\n")
}
