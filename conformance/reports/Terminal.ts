/** Renders a report for a terminal: the verdict, the probable cause within one screen, and then all else in few lines. */
import type { Cause, CheckResult, Report, Status } from "../engine/Report.ts"
import type { Step } from "../evaluation/Finding.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

export interface Options {
  /** Width of the screen in columns; 100 by default, at least 40. */
  readonly columns?: number | undefined
  /** Whether to write ANSI colors; false by default. */
  readonly color?: boolean | undefined
}

/** Maximum number of steps of the probable cause that are shown; those in the middle are omitted. */
const MAX_STEPS = 7

/** Maximum number of lines of one text. */
const MAX_LINES = 4

/** Maximum number of other causes and of choices that are shown, one line each. */
const MAX_OTHERS = 12

/** Maximum length of a command that is shown; it is never cut, because it is to be copied. */
const MAX_COMMAND = 600

const INDENT = "  "

/** Renders the report as lines, without a line break at the end. Lines fit the columns, except for texts to copy. */
export const render = (report: Report, { color = false, columns = 100 }: Options = {}): string => {
  const screen: Screen = { columns: Math.max(40, columns), paint: color ? ansi : (text) => text }
  const { paint } = screen
  const withStatus = (status: Status) => report.checks.filter((check) => check.status === status)
  const reasons = (status: Status, word: string, shade: Color) =>
    Wording.byReason(withStatus(status)).flatMap(([reason, checks]) =>
      formatStatus(word, shade, checks, reason, screen)
    )
  const [first, ...others] = Wording.causes(report)
  const claims = Wording.claims(report)
  const shade = report.verdict === "conformant" ? "green" : isBad(report) ? "red" : "yellow"
  const blocks = [
    wrap(Wording.headline(report), screen.columns).map((line) => paint(line, shade)),
    first === undefined ? [] : cause(first, screen),
    otherCauses(others, screen),
    reasons("error", "ERROR", "red"),
    reasons("warn", "WARN", "yellow"),
    reasons("inconclusive", "INCONCLUSIVE", "yellow"),
    reasons("not-applicable", "NOT APPLICABLE", "dim"),
    // What the doctor found explains why nothing could be decided.
    report.verdict === "error" ? report.findings.flatMap((finding) => wrap(finding, screen.columns)) : [],
    list("Programs that stopped early:", report.stopped, screen),
    list("The contract leaves open, and the subject chose:", report.choices, screen),
    [
      ...limited(wrap(Wording.profiles(report), screen.columns), screen.columns),
      ...(claims === undefined ? [] : wrap(claims, screen.columns))
    ]
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")
}

/**
 * The progress of a run.
 *
 * @internal
 */
export interface Progress {
  readonly done: number
  readonly planned: number
  /** The current program. */
  readonly id: string
  readonly requests: number
  readonly milliseconds: number
}

/**
 * Renders the progress in one line without a line break, such as `[12/84] limits.burst  312 requests  14 s`.
 *
 * @internal
 */
export const progress = ({ done, id, milliseconds, planned, requests }: Progress, columns = 100): string => {
  const parts = [
    `[${done}/${planned}] ${id}`,
    ...(requests === 0 ? [] : [Wording.plural(requests, "request")]),
    Wording.duration(milliseconds)
  ]
  return cut(printable(parts.join("  ")), columns)
}

type Color = keyof typeof codes

const codes = { red: "31;1", green: "32;1", yellow: "33;1", dim: "2", bold: "1" } as const

interface Screen {
  readonly columns: number
  readonly paint: (text: string, color: Color) => string
}

const ansi: Screen["paint"] = (text, color) => `\u001b[${codes[color]}m${text}\u001b[0m`

const isBad = ({ verdict }: Report): boolean => verdict === "not-conformant" || verdict === "error"

const indented = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => INDENT + line)

/** Formats a status, its checks, and a text about them. */
const formatStatus = (
  word: string,
  color: Color,
  checks: ReadonlyArray<CheckResult>,
  text: string,
  { columns, paint }: Screen
): ReadonlyArray<string> => {
  const ids = checks.map(({ id }) => id).join(", ")
  const heading =
    checks.length === 1 ? `${word}  ${ids}: ${text}` : `${word}  ${checks.length} checks: ${text}`
  const [first = "", ...rest] = wrap(heading, columns - INDENT.length)
  return [
    first.replace(word, () => paint(word, color)),
    ...indented(rest),
    ...(checks.length === 1
      ? []
      : indented(limited(wrap(ids, columns - INDENT.length), columns - INDENT.length)))
  ]
}

/** Formats the probable cause with its history. */
const cause = ([check, group]: readonly [CheckResult, Cause], screen: Screen): ReadonlyArray<string> => {
  const { columns, paint } = screen
  const width = columns - INDENT.length
  const { counterexample } = check
  const consequences = Wording.consequences(group)
  const replay = counterexample && Wording.replayCommand(counterexample)
  const heading = cut(printable(`${check.id} (${check.section}, level ${check.level})`), width - 6)
  return [
    `${paint("FAIL", "red")}  ${paint(heading, "bold")}`,
    ...indented(limited(wrap(check.law, width), width)),
    ...(counterexample === undefined
      ? labeled("reason", Wording.summary(check), width)
      : [
          ...steps(counterexample.steps, width),
          ...labeled("expected", counterexample.expected, width),
          ...labeled("actual", counterexample.actual, width)
        ]),
    ...(consequences === undefined ? [] : indented(limited(wrap(`${consequences}.`, width), width))),
    ...(replay === undefined
      ? []
      : [
          INDENT +
            (replay.length > 3 * MAX_COMMAND
              ? "replay    the token is in report.json (--out)"
              : `replay    ${replay}`)
        ])
  ]
}

const otherCauses = (
  all: ReadonlyArray<readonly [CheckResult, Cause]>,
  { columns, paint }: Screen
): ReadonlyArray<string> => {
  const hidden = all.length - MAX_OTHERS
  return [
    ...all.slice(0, MAX_OTHERS).map(([check, { more }]) => {
      const times = more === 0 ? "" : ` (and ${more} more)`
      const line = cut(printable(`FAIL  ${check.id}${times}: ${Wording.summary(check)}`), columns)
      return line.replace("FAIL", () => paint("FAIL", "red"))
    }),
    ...(hidden > 0 ? [`… and ${Wording.plural(hidden, "other finding")}`] : [])
  ]
}

const list = (heading: string, items: ReadonlyArray<string>, { columns }: Screen): ReadonlyArray<string> => {
  if (items.length === 0) return []
  const hidden = items.length - MAX_OTHERS
  return [
    ...wrap(heading, columns),
    ...items.slice(0, MAX_OTHERS).map((item) => cut(`- ${printable(item)}`, columns)),
    ...(hidden > 0 ? [`… and ${hidden} more`] : [])
  ]
}

/** Keeps the first lines of a text. */
const limited = (lines: ReadonlyArray<string>, width: number, max = MAX_LINES): ReadonlyArray<string> =>
  lines.length <= max ? lines : [...lines.slice(0, max - 1), `${cut(lines[max - 1] ?? "", width - 2)} …`]

const labeled = (label: string, text: string, width: number): ReadonlyArray<string> =>
  indented(
    limited(wrap(text, width - 10), width - 10).map(
      (line, index) => `${(index === 0 ? label : "").padEnd(10)}${line}`
    )
  )

/** Formats the first and the last steps with their numbers, each with its command. */
const steps = (all: ReadonlyArray<Step>, width: number): ReadonlyArray<string> => {
  const digits = String(all.length).length
  const end = Math.max(2, all.length - MAX_STEPS + 2)
  return all.flatMap((step, index) => {
    if (index >= 2 && index < end) {
      return index === 2 ? [`${INDENT}${" ".repeat(digits)}  … ${Wording.plural(end - 2, "step")} …`] : []
    }
    const number = `${String(index + 1).padStart(digits)}. `
    const space = " ".repeat(number.length)
    const room = width - number.length
    // The last step shows the violation.
    const max = index === all.length - 1 || all.length <= 3 ? 8 : 2
    const lines = limited(wrap(Wording.step(step), room), room, max)
    const { curl = "" } = step
    return indented([
      ...lines.map((line, at) => (at === 0 ? number : space) + line),
      ...(curl === "" || curl.length > MAX_COMMAND ? [] : [space + printable(curl)])
    ])
  })
}
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const combining = /\p{M}/u

/** Returns the width of a printable character in columns of a terminal. */
const widthOfCharacter = (character: string): number => {
  if (character < "\u0300") return 1
  return combining.test(character) ? 0 : wide.test(character) ? 2 : 1
}

/**
 * Returns the width of printable text in columns.
 *
 * @internal
 */
export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

/**
 * Truncates printable text to the columns, with `…` at the end.
 *
 * @internal
 */
export const cut = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  return columns < 1 ? "" : `${take(text, columns - 1)}…`
}

const take = (text: string, columns: number): string => {
  let taken = ""
  let width = 0
  for (const character of text) {
    width += widthOfCharacter(character)
    if (width > columns) break
    taken += character
  }
  return taken
}

/**
 * Makes text printable, and wraps it at spaces, or inside a word that is longer than a line. Each line is made
 * printable again, because a line break can move a command for a CI service to the beginning of a line.
 */
const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of printable(text).split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`
    if (widthOf(joined) <= columns) {
      line = printable(joined)
      if (widthOf(line) <= columns) continue
    } else {
      if (line !== "") lines.push(line)
      line = printable(word)
    }
    while (widthOf(line) > columns) {
      const head = take(line, columns)
      lines.push(head)
      line = printable(line.slice(head.length))
    }
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line]
}
