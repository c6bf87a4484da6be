/** Renders a report for one screen: the checks that did not pass, the counts, and the verdict as the last line. */
import type { CheckResult, Report, ReportedStep, Status } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

export interface Options {
  /** Width of the screen in columns; 100 by default, at least 40. */
  readonly columns?: number | undefined
  /** Whether to write ANSI colors; false by default. */
  readonly color?: boolean | undefined
  /** Paths of the scripts, by check id. */
  readonly scripts?: ReadonlyMap<string, string> | undefined
}

/** Maximum number of failures that are shown in full; the other failures are shown with their reason only. */
const MAX_SHOWN = 8

/** Maximum number of steps that are shown of a failure; earlier steps are omitted. */
const MAX_STEPS = 8

const INDENT = "      "

/**
 * Renders the report as lines, without a line break at the end. Lines fit the columns, except for the verdict and texts
 * to copy (script, replay).
 */
export const render = (report: Report, { color = false, columns = 100, scripts }: Options = {}): string => {
  const screen: Screen = { columns: Math.max(40, columns), paint: color ? ansi : (text) => text }
  const withStatus = (status: Status) => report.checks.filter((check) => check.status === status)
  const failed = Wording.byCause(withStatus("fail"))
  const section = Wording.sectionsOf(report.clauses)
  const blocks = [
    ...failed
      .slice(0, MAX_SHOWN)
      .map(([check, prevented]) => failure(check, prevented, report, section, scripts, screen)),
    failed
      .slice(MAX_SHOWN)
      .flatMap(([check, prevented]) =>
        formatStatus("FAIL", "red", [check, ...prevented], Wording.summary(check), screen)
      ),
    ...withStatus("error").map((check) =>
      formatStatus("ERROR", "red", [check], Wording.summary(check), screen)
    ),
    ...withStatus("warn").map((check) =>
      formatStatus("WARN", "yellow", [check], Wording.summary(check), screen)
    ),
    ...Wording.byReason(withStatus("inconclusive")).map(([reason, checks]) =>
      formatStatus("INCONCLUSIVE", "yellow", checks, reason, screen)
    ),
    ...Wording.byReason(withStatus("not-applicable")).map(([reason, checks]) =>
      formatStatus("NOT APPLICABLE", "dim", checks, reason, screen)
    ),
    // The findings of the doctor explain why nothing could be decided.
    report.verdict === "error" ? report.findings.flatMap((finding) => wrap(finding, screen.columns)) : []
  ].filter((lines) => lines.length > 0)
  const claims = Wording.claims(report)
  const ending = [
    ...wrap(Wording.counts(report), screen.columns),
    ...(claims === undefined ? [] : wrap(claims, screen.columns)),
    screen.paint(
      Wording.headline(report),
      report.verdict === "conformant" ? "green" : isBad(report) ? "red" : "yellow"
    )
  ]
  return [...blocks, ending].map((lines) => lines.join("\n")).join("\n\n")
}

/**
 * The progress of a run.
 *
 * @internal
 */
export interface Progress {
  readonly done: number
  readonly planned: number
  /** The current check. */
  readonly id: string
  readonly requests: number
  readonly milliseconds: number
  /** The reason for waiting, such as `waiting 41 s for the limits of the main key`. */
  readonly waiting?: string | undefined
}

/**
 * Renders the progress in one line without a line break, such as `[12/84] limits.burst  312 requests  14 s`.
 *
 * @internal
 */
export const progress = (
  { done, id, milliseconds, planned, requests, waiting }: Progress,
  columns = 100
): string => {
  const parts = [
    `[${done}/${planned}] ${id}`,
    ...(requests === 0 ? [] : [Wording.plural(requests, "request")]),
    Wording.duration(milliseconds),
    ...(waiting === undefined ? [] : [waiting])
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

/** Formats a status, its checks, and a text about them. */
const formatStatus = (
  word: string,
  color: Color,
  checks: ReadonlyArray<CheckResult>,
  text: string,
  { columns, paint }: Screen
): ReadonlyArray<string> => {
  const [first = "", ...rest] = wrap(
    `${word}  ${checks.map(({ id }) => id).join(", ")}: ${text}`,
    columns - INDENT.length
  )
  return [first.replace(word, () => paint(word, color)), ...rest.map((line) => INDENT + line)]
}

const failure = (
  check: CheckResult,
  prevented: ReadonlyArray<CheckResult>,
  { seed }: Report,
  section: ReadonlyMap<string, string>,
  scripts: Options["scripts"],
  screen: Screen
): ReadonlyArray<string> => {
  const { columns, paint } = screen
  const width = columns - INDENT.length
  const indented = (lines: ReadonlyArray<string>, color?: Color) =>
    lines.map((line) => INDENT + (color === undefined ? line : paint(line, color)))
  const { counterexample } = check
  const heading = [
    `${paint("FAIL", "red")}  ${paint(cut(printable(check.id), width), "bold")}`,
    ...indented(wrap(`${check.level}: ${Wording.clausesOf(check, section).join(", ")}`, width), "dim"),
    ...indented(wrap(check.law, width)),
    ...(counterexample?.clause === undefined
      ? []
      : indented(wrap(Wording.blame(counterexample.clause, section), width)))
  ]
  const alsoPrevented =
    prevented.length === 0
      ? []
      : indented(wrap(`also prevents: ${prevented.map(({ id }) => id).join(", ")}`, width))
  if (counterexample === undefined) {
    return [...heading, ...indented(labeled("reason", Wording.summary(check), width)), ...alsoPrevented]
  }
  const script = scripts?.get(check.id)
  const replay = Wording.replayCommand(counterexample)
  return [
    ...heading,
    ...indented(steps(counterexample.steps, width)),
    ...indented(labeled("expected", counterexample.expected, width)),
    ...indented(labeled("actual", counterexample.actual, width)),
    ...indented(wrap(Wording.history(counterexample, seed), width), "dim"),
    ...alsoPrevented,
    ...(script === undefined ? [] : [`${INDENT}script    ${printable(script)}`]),
    ...(replay === undefined ? [] : [`${INDENT}replay    ${replay}`])
  ]
}

const labeled = (label: string, text: string, width: number): ReadonlyArray<string> =>
  wrap(text, width - 10).map((line, index) => `${(index === 0 ? label : "").padEnd(10)}${line}`)

/** Formats the last steps with their original numbers, each in one line, or in two lines if it is long. */
const steps = (all: ReadonlyArray<ReportedStep>, width: number): ReadonlyArray<string> => {
  const hidden = Math.max(0, all.length - MAX_STEPS)
  const digits = String(all.length).length
  const shown = all.slice(hidden).flatMap((step, index) => {
    const number = `${String(hidden + index + 1).padStart(digits)}. `
    const line = number + Wording.step(step)
    return widthOf(line) <= width
      ? [line]
      : [
          cut(number + printable(step.did), width),
          cut(`${" ".repeat(number.length)}→ ${printable(step.got)}`, width)
        ]
  })
  return hidden === 0 ? shown : [`… ${Wording.plural(hidden, "earlier step")}`, ...shown]
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
