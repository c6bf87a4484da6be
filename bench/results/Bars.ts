/** Draws bars as SVG, readable on light and dark backgrounds. */
import type { Spread } from "../Spread.ts"

/** A bar of two parts, with a whisker for the spread of the first. */
export interface Bar {
  readonly first: Spread
  readonly second: number
  /** The text at its end. */
  readonly text: string
}

/** A row of bars, one for each column; a bar that was not measured is `undefined`. */
export interface Row {
  readonly label: string
  readonly isOurs: boolean
  readonly bars: ReadonlyArray<Bar | undefined>
}

/** Horizontal bars in columns, and in groups of rows; each group has its own scale. */
export interface Bars {
  readonly title: string
  readonly note: string
  readonly columns: ReadonlyArray<string>
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rows: ReadonlyArray<Row> }>
}

// Medium tones, because the background of the page is unknown.
const TEXT = "#6e7781"
const OURS = "#2f81f7"
const OTHERS = "#8c959f"

const WIDTH = 900
const LEFT = 290
/** Width of the text at the end of a bar. */
const RIGHT = 78
const ROW = 18
const HEAD = 46
const GAP = 8

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const round = (value: number): string => String(Math.round(value * 10) / 10)

const text = (x: number, y: number, anchor: "start" | "end", content: string, weight = "normal"): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-weight="${weight}">${escaped(content)}</text>`

const rectangle = (x: number, y: number, width: number, fill: string, opacity: number): string =>
  `<rect x="${round(x)}" y="${y + 2}" width="${round(width)}" height="${ROW - 4}" fill="${fill}" fill-opacity="${opacity}"/>`

const drawBar = (x: number, y: number, scale: number, fill: string, bar: Bar): ReadonlyArray<string> => {
  const { first, second } = bar
  const end = first.median + second
  const middle = y + ROW / 2
  return [
    rectangle(x, y, first.median * scale, fill, 1),
    rectangle(x + first.median * scale, y, second * scale, fill, 0.45),
    `<line x1="${round(x + first.low * scale)}" x2="${round(x + first.high * scale)}" y1="${middle}" y2="${middle}" stroke="${TEXT}"/>`,
    text(x + Math.max(end, first.high) * scale + 6, y + 13, "start", bar.text)
  ]
}

const lengthOf = (bar: Bar | undefined): number =>
  bar === undefined ? 0 : Math.max(bar.first.median + bar.second, bar.first.high)

export const draw = ({ columns, groups, note, title }: Bars): string => {
  const column = (WIDTH - LEFT) / columns.length
  const content: Array<string> = []
  let y = HEAD
  for (const { name, rows } of groups) {
    content.push(text(8, y + 13, "start", name, "bold"))
    for (const [index, name] of columns.entries())
      content.push(text(LEFT + index * column, y + 13, "start", name))
    y += ROW + 2
    const max = Math.max(...rows.flatMap(({ bars }) => bars.map(lengthOf)), 0)
    const scale = (column - RIGHT) / (max || 1)
    for (const { bars, isOurs, label } of rows) {
      content.push(text(LEFT - 8, y + 13, "end", label, isOurs ? "bold" : "normal"))
      for (const [index, bar] of bars.entries()) {
        const x = LEFT + index * column
        if (bar !== undefined) content.push(...drawBar(x, y, scale, isOurs ? OURS : OTHERS, bar))
      }
      y += ROW
    }
    y += GAP
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT}">`,
    `<title>${escaped(title)}</title>`,
    text(8, 18, "start", title, "bold"),
    text(8, 36, "start", note),
    ...content,
    "</svg>",
    ""
  ].join("\n")
}
