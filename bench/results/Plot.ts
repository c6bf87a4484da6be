/** Draws small plots as SVG, readable on light and dark backgrounds. */

/** One bar; `low` and `high` are shown as a whisker. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly low?: number | undefined
  readonly high?: number | undefined
  readonly isOurs: boolean
}

/** Horizontal bars in groups. */
export interface Bars {
  readonly title: string
  readonly groups: ReadonlyArray<{ readonly name: string; readonly bars: ReadonlyArray<Bar> }>
  /** Formats the text at the end of a bar. */
  readonly show: (value: number) => string
}

/** A line through points; all lines share the axes, which begin at 0. */
export interface Line {
  readonly label: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  readonly isOurs: boolean
}

/** Lines over a common axis. */
export interface Lines {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
  readonly showX: (x: number) => string
  readonly showY: (y: number) => string
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

type Anchor = "start" | "middle" | "end"

const text = (x: number, y: number, anchor: Anchor, content: string, weight = "normal"): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-weight="${weight}">${escaped(content)}</text>`

const picture = (height: number, title: string, content: ReadonlyArray<string>): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT}">`,
    `<title>${escaped(title)}</title>`,
    text(8, 20, "start", title, "bold"),
    ...content,
    "</svg>",
    ""
  ].join("\n")

/** Draws bars. */
export const bars = ({ groups, show, title }: Bars): string => {
  const max = Math.max(
    ...groups.flatMap(({ bars }) => bars.map(({ high, value }) => Math.max(value, high ?? 0))),
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
      const end = LEFT + value * scale
      content.push(
        text(LEFT - 8, y + 13, "end", label, isOurs ? "bold" : "normal"),
        `<rect x="${LEFT}" y="${y + 2}" width="${round(value * scale)}" height="${ROW - 4}" fill="${isOurs ? OURS : OTHERS}"/>`
      )
      if (low !== undefined && high !== undefined) {
        content.push(
          `<line x1="${round(LEFT + low * scale)}" x2="${round(LEFT + high * scale)}" y1="${middle}" y2="${middle}" stroke="${TEXT}"/>`
        )
      }
      content.push(text(Math.max(end, LEFT + (high ?? 0) * scale) + 6, y + 13, "start", show(value)))
      y += ROW
    }
    y += 8
  }
  return picture(y, title, content)
}

/** Draws lines. */
export const lines = ({ lines, showX, showY, title }: Lines): string => {
  const height = 260
  const bottom = height - 28
  const points = lines.flatMap((line) => line.points)
  const maxX = Math.max(...points.map(([x]) => x), 0) || 1
  const maxY = (Math.max(...points.map(([, y]) => y), 0) || 1) * 1.1
  const atX = (x: number): number => 70 + (x / maxX) * (WIDTH - 70 - 190)
  const atY = (y: number): number => bottom - (y / maxY) * (bottom - TITLE)
  const content: Array<string> = []
  for (const share of [0, 0.5, 1]) {
    const y = atY(maxY * share)
    content.push(
      `<line x1="${atX(0)}" x2="${atX(maxX)}" y1="${round(y)}" y2="${round(y)}" stroke="${OTHERS}" stroke-opacity="0.4"/>`,
      text(62, y + 4, "end", showY(maxY * share)),
      text(atX(maxX * share), bottom + 18, "middle", showX(maxX * share))
    )
  }
  for (const { isOurs, label, points } of lines) {
    const path = points.map(([x, y]) => `${round(atX(x))},${round(atY(y))}`).join(" ")
    content.push(
      `<polyline points="${path}" fill="none" stroke="${isOurs ? OURS : OTHERS}" stroke-width="2"/>`,
      text(atX(maxX) + 8, atY(points.at(-1)?.[1] ?? 0) + 4, "start", label, isOurs ? "bold" : "normal")
    )
  }
  return picture(height, title, content)
}
