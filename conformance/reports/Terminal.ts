/** Renders a report for a terminal: the verdict, the probable cause within one screen, and then all else in few lines. */

import type { Step } from "../clauses/Finding.ts"
import type { Cause, CheckResult, Report, Status } from "../engine/Report.ts"
import type { Progress } from "../engine/Run.ts"
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

/** Maximum number of lines of one text, and of a step that shows a violation. */
const [MAX_LINES, MAX_STEP_LINES] = [4, 8]

/** Number of other causes that are shown with a request, and of choices that are shown beside them. */
const [MAX_WHOLE, MAX_CHOICES] = [3, 4]

/** Maximum number of other causes and of choices that are shown, one line each. */
const MAX_OTHERS = 12

/** Maximum length of a command, and of one with a token; it is never cut, because it is to be copied. */
const [MAX_COMMAND, MAX_REPLAY] = [600, 1_800]

const INDENT = "  "

/** Renders the report as lines, without a line break at the end. Lines fit the columns, except for texts to copy. */
export const render = (report: Report, { color = false, columns = 100 }: Options = {}): string => {
  const width = Math.max(40, columns)
  const paint: Paint = color ? (text, shade) => `\u001b[${codes[shade]}m${text}\u001b[0m` : (text) => text
  const reasons = (status: Status, word: string, shade: Color) =>
    Wording.byReason(report.checks.filter((check) => check.status === status)).flatMap(([reason, checks]) => {
      const ids = checks.map(({ id }) => id).join(", ")
      const what = checks.length === 1 ? ids : `${checks.length} checks`
      const [first = "", ...rest] = wrap(`${word}  ${what}: ${reason}`, width - INDENT.length)
      const more = checks.length === 1 ? [] : limited(ids, width - INDENT.length)
      return [first.replace(word, () => paint(word, shade)), ...indented([...rest, ...more])]
    })
  const [first, ...others] = Wording.causes(report)
  const claims = Wording.claims(report)
  const isBad = report.verdict === "not-conformant" || report.verdict === "error"
  const shade = report.verdict === "conformant" ? "green" : isBad ? "red" : "yellow"
  const blocks = [
    wrap(headline(report), width).map((line) => paint(line, shade)),
    first === undefined ? [] : cause(first, width, paint),
    ...others.slice(0, MAX_WHOLE).map((each) => otherCause(each, width)),
    listed(
      "",
      others.slice(MAX_WHOLE).map((each) => `${failureOf(each)}: ${Wording.summary(each[0])}`),
      width,
      MAX_OTHERS,
      (item) => [cut(printable(item), width)]
    ),
    reasons("error", "ERROR", "red"),
    reasons("inconclusive", "INCONCLUSIVE", "yellow"),
    reasons("not-applicable", "NOT APPLICABLE", "dim"),
    // What the doctor found explains why nothing could be decided.
    report.verdict === "error" ? report.findings.flatMap((finding) => wrap(finding, width)) : [],
    listed("Programs that stopped early:", report.stopped, width),
    listed(
      "The contract leaves open, and the subject chose:",
      report.choices,
      width,
      // Choices rarely explain a failure.
      report.verdict === "not-conformant" ? MAX_CHOICES : MAX_OTHERS
    ),
    [...limited(Wording.profiles(report), width), ...(claims === undefined ? [] : wrap(claims, width))]
  ]
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n").replace(/^FAIL/, (word) => paint(word, "red")))
    .join("\n\n")
}

/** Returns the verdict in one line, with the cost and the seed. */
const headline = (report: Report): string =>
  `${Wording.verdict(report)} · ${Wording.cost(report)} · seed ${report.seed}`

/**
 * Renders the progress in one line without a line break, such as `[12/84] limits.burst  312 requests, 14 s (waited 9 s
 * for limits)`.
 *
 * @internal
 */
export const progress = (
  { id, index, requests, total, waitedMs }: Progress,
  milliseconds: number,
  columns = 100
): string =>
  cut(printable(`[${index}/${total}] ${id}  ${Wording.cost({ requests, milliseconds, waitedMs })}`), columns)

const codes = { red: "31;1", green: "32;1", yellow: "33;1", dim: "2", bold: "1" } as const

type Color = keyof typeof codes

type Paint = (text: string, color: Color) => string

const indented = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => INDENT + line)

/** Formats the probable cause with its history. */
const cause = (
  [check, group]: readonly [CheckResult, Cause],
  columns: number,
  paint: Paint
): ReadonlyArray<string> => {
  const width = columns - INDENT.length
  const heading = cut(printable(`${check.id} (${check.section}, level ${check.level})`), width - 6)
  return [
    `FAIL  ${paint(heading, "bold")}`,
    ...indented([
      ...limited(check.law, width),
      ...steps(check.counterexample?.steps ?? [], width),
      ...evidence(check, width),
      ...Wording.consequences(group).flatMap((text) => limited(text, width)),
      ...Wording.replayCommand(check).map(
        (command) =>
          `replay    ${command.length > MAX_REPLAY ? "the token is in report.json (--out)" : command}`
      )
    ])
  ]
}

const evidence = (check: CheckResult, columns: number): ReadonlyArray<string> =>
  Wording.evidence(check).flatMap(([name, text]) => hanging(name.padEnd(10), text, columns))

const failureOf = ([{ id }, { more }]: readonly [CheckResult, Cause]): string =>
  `FAIL  ${id}${more === 0 ? "" : ` (and ${more} more)`}`

/** Formats another cause with the last request of its history. */
const otherCause = (each: readonly [CheckResult, Cause], columns: number): ReadonlyArray<string> => {
  const [check] = each
  const width = columns - INDENT.length
  const last = check.counterexample?.steps.slice(-1) ?? []
  return [
    ...wrap(failureOf(each), columns),
    ...indented([...last.flatMap((step) => limited(Wording.step(step), width, 2)), ...evidence(check, width)])
  ]
}

/** Formats the first items, each with `format`, below a title if there is one. */
const listed = (
  title: string,
  items: ReadonlyArray<string>,
  columns: number,
  max = MAX_OTHERS,
  format = (item: string) => hanging("- ", item, columns)
): ReadonlyArray<string> =>
  items.length === 0
    ? []
    : [
        ...(title === "" ? [] : wrap(title, columns)),
        ...items.slice(0, max).flatMap(format),
        ...(items.length > max ? [`… and ${items.length - max} more`] : [])
      ]

/** Wraps a text after a label, and keeps its first lines; further lines begin below the text. */
const hanging = (label: string, text: string, columns: number, max = MAX_LINES): ReadonlyArray<string> => {
  const width = columns - label.length
  const lines = wrap(text, width)
  const last = lines[max - 1] ?? ""
  const shown = lines.length <= max ? lines : [...lines.slice(0, max - 1), `${take(last, width - 2)} …`]
  return shown.map((line, index) => (index === 0 ? label : " ".repeat(label.length)) + line)
}

const limited = (text: string, columns: number, max?: number): ReadonlyArray<string> =>
  hanging("", text, columns, max)

/** Formats the first and the last steps with their numbers, each with its command. */
const steps = (all: ReadonlyArray<Step>, columns: number): ReadonlyArray<string> => {
  const digits = String(all.length).length
  const end = Math.max(2, all.length - MAX_STEPS + 2)
  return all.flatMap((step, index) => {
    if (index >= 2 && index < end) {
      return index === 2 ? [`${" ".repeat(digits)}  … ${Wording.plural(end - 2, "step")} …`] : []
    }
    const number = `${String(index + 1).padStart(digits)}. `
    // The last step shows the violation.
    const max = index === all.length - 1 || all.length <= 3 ? MAX_STEP_LINES : 2
    const { curl = "" } = step
    return [
      ...hanging(number, Wording.step(step), columns, max),
      ...(curl === "" || curl.length > MAX_COMMAND ? [] : [" ".repeat(number.length) + printable(curl)])
    ]
  })
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const combining = /\p{M}/u

/** Returns the beginning of printable text that fits into the columns. */
const take = (text: string, columns: number): string => {
  let width = 0
  let end = 0
  for (const character of text) {
    if (character < "\u0300") width++
    else if (!combining.test(character)) width += wide.test(character) ? 2 : 1
    if (width > columns) break
    end += character.length
  }
  return text.slice(0, end)
}

/**
 * Truncates printable text to the columns, with `…` at the end.
 *
 * @internal
 */
export const cut = (text: string, columns: number): string => {
  if (take(text, columns) === text) return text
  return columns < 1 ? "" : `${take(text, columns - 1)}…`
}

/**
 * Makes text printable, and wraps it at spaces, or inside a word that is longer than a line. Each line is made
 * printable again, because a line break can move a command for a CI service to the beginning of a line.
 */
const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let rest = printable(text)
  for (let head = take(rest, columns + 1); take(rest, columns) !== rest; head = take(rest, columns + 1)) {
    const space = head.lastIndexOf(" ")
    const line = space > 0 ? head.slice(0, space) : take(rest, columns)
    lines.push(line)
    rest = rest.slice(line.length).replace(/^ /, "")
  }
  return [...lines, rest].map((line) => cut(printable(line), columns))
}
