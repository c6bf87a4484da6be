/** Renders a report for a terminal: the verdict, the probable cause within one screen, and then all else in few lines. */
import { styleText } from "node:util"
import * as Arr from "effect/Array"
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

/** Maximum number of steps of the probable cause that are shown, and how many of more steps are: the last ones. */
const [MAX_STEPS, LAST_STEPS] = [7, 3]

/** Maximum number of lines of one text, of a step that shows a violation, and of another step. */
const [MAX_LINES, MAX_STEP_LINES, MAX_OTHER_STEP_LINES] = [4, 8, 2]

/** Number of other causes that are shown with a request, and of choices that are shown beside them. */
const [MAX_WHOLE, MAX_CHOICES] = [3, 4]

/** Maximum number of other causes and of choices that are shown. */
const MAX_OTHERS = 12

/** Maximum length of a command, and of one with a token; it is never cut, because it is to be copied. */
const [MAX_COMMAND, MAX_REPLAY] = [600, 1_800]

/** A line to copy, which is not wrapped; or a text after a label, of which at most `max` lines are shown. */
type Item = string | readonly [label: string, text: string, max?: number]

/** Renders the report as lines, without a line break at the end. Lines fit the columns, except for texts to copy. */
export const render = (report: Report, { color = false, columns = 100 }: Options = {}): string => {
  const { checks, choices, findings, stopped, verdict } = report
  const paint = (text: string, shade: "red" | "green" | "yellow") =>
    color ? styleText(["bold", shade], text, { validateStream: false }) : text
  const [first, ...others] = Wording.causes(report)
  const blocks: ReadonlyArray<ReadonlyArray<Item>> = [
    first === undefined ? [] : cause(first),
    ...others.slice(0, MAX_WHOLE).map(otherCause),
    listed("", others.slice(MAX_WHOLE).map(otherInOneLine)),
    ...(["error", "inconclusive", "not-applicable"] as const).map((status) => reasons(checks, status)),
    // What the doctor found explains why nothing could be decided.
    verdict === "error" ? findings.map((finding) => ["", finding]) : [],
    listed("Programs that stopped early:", stopped.map(bulleted)),
    listed(
      "The contract leaves open, and the subject chose:",
      choices.map(bulleted),
      // Choices rarely explain a failure.
      verdict === "not-conformant" ? MAX_CHOICES : MAX_OTHERS
    ),
    [Wording.profiles(report), Wording.claims(report)].flatMap((text) => (text ? [["", text]] : []))
  ]
  const headline = `${Wording.verdict(report)} · ${Wording.cost(report)} · seed ${report.seed}`
  return [[["", headline]] satisfies ReadonlyArray<Item>, ...blocks]
    .map((block) => block.flatMap((item) => linesOf(item, Math.max(40, columns))).join("\n"))
    .filter((text) => text !== "")
    .map((text, index) =>
      index === 0
        ? paint(text, shades[verdict])
        : text.replace(/^(?:FAIL|ERROR)(?= )/gm, (word) => paint(word, "red"))
    )
    .join("\n\n")
}

const shades = {
  conformant: "green",
  "not-conformant": "red",
  error: "red",
  inconclusive: "yellow",
  "selection-passed": "yellow"
} as const

/**
 * Renders the progress in one line, such as `[12/84] limits.burst  312 requests, 14 s (waited 9 s for limits)`.
 *
 * @internal
 */
export const progress = ({ id, index, requests, total, waitedMs }: Progress, milliseconds: number): string =>
  printable(`[${index}/${total}] ${id}  ${Wording.cost({ requests, milliseconds, waitedMs })}`)

/** Formats the probable cause with its history. */
const cause = ([check, group]: readonly [CheckResult, Cause]): ReadonlyArray<Item> => [
  ["FAIL  ", `${check.id} (${check.section}, level ${check.level})`],
  ["  ", check.law],
  ...steps(check.counterexample?.steps ?? []),
  ...evidence(check),
  ...Wording.consequences(group).map((text): Item => ["  ", text]),
  ...Wording.replayCommand(check).map(
    (command) =>
      `  replay    ${command.length > MAX_REPLAY ? "the token is in report.json (--out)" : command}`
  )
]

const evidence = (check: CheckResult): ReadonlyArray<Item> =>
  Wording.evidence(check).map(([name, text]) => [`  ${name.padEnd(10)}`, text])

const failureOf = ([{ id }, { more }]: readonly [CheckResult, Cause]): string =>
  `${id}${more === 0 ? "" : ` (and ${more} more)`}`

/** Formats another cause with its law and the last request of its history. */
const otherCause = (each: readonly [CheckResult, Cause]): ReadonlyArray<Item> => {
  const last = each[0].counterexample?.steps.slice(-1) ?? []
  return [
    ["FAIL  ", failureOf(each)],
    ["  ", each[0].law],
    ...last.map((step): Item => ["  ", Wording.step(step), MAX_OTHER_STEP_LINES]),
    ...evidence(each[0])
  ]
}

const otherInOneLine = (each: readonly [CheckResult, Cause]): Item => [
  "FAIL  ",
  `${failureOf(each)}: ${Wording.summary(each[0])}`,
  1
]

/** Formats the checks with a status, those with the same reason together. */
const reasons = (checks: ReadonlyArray<CheckResult>, status: Status): ReadonlyArray<Item> => {
  const some = checks.filter((check) => check.status === status)
  return Object.entries(Arr.groupBy(some, Wording.summary)).flatMap(([reason, same]) => {
    const ids = same.map(({ id }) => id).join(", ")
    const word = status.toUpperCase().replace("-", " ")
    return same.length === 1
      ? [[`${word}  `, `${ids}: ${reason}`]]
      : [
          [`${word}  `, `${same.length} checks: ${reason}`],
          ["  ", ids]
        ]
  })
}

const bulleted = (text: string): Item => ["- ", text]

/** Returns the first items, below a title if there is one. */
const listed = (title: string, items: ReadonlyArray<Item>, max = MAX_OTHERS): ReadonlyArray<Item> =>
  items.length === 0
    ? []
    : [
        ["", title],
        ...items.slice(0, max),
        ...(items.length > max ? [`… and ${items.length - max} more`] : [])
      ]

/** Formats the first and the last steps with their numbers, each with its command. */
const steps = (all: ReadonlyArray<Step>): ReadonlyArray<Item> => {
  const hidden = all.length > MAX_STEPS ? all.length - 1 - LAST_STEPS : 0
  return all.flatMap((step, index): ReadonlyArray<Item> => {
    const number = `  ${String(index + 1).padStart(String(all.length).length)}. `
    if (index >= 1 && index <= hidden)
      return index === 1 ? [`${" ".repeat(number.length)}… ${Wording.plural(hidden, "more step")} …`] : []
    // The last step shows the violation.
    const max = index === all.length - 1 || all.length <= 3 ? MAX_STEP_LINES : MAX_OTHER_STEP_LINES
    const { curl = "" } = step
    return [
      [number, Wording.step(step), max],
      ...(curl === "" || curl.length > MAX_COMMAND ? [] : [" ".repeat(number.length) + printable(curl)])
    ]
  })
}

/** Returns the lines of an item; those of a text after the first begin below it. */
const linesOf = (item: Item, columns: number): ReadonlyArray<string> => {
  if (typeof item === "string") return [item]
  const [label, text, max = MAX_LINES] = item
  const width = columns - label.length
  const lines = text === "" ? [""] : wrapped(text, width)
  const shown =
    lines.length > max ? [...lines.slice(0, max - 1), `${lines.slice(max - 1).join(" ")}…`] : lines
  return shown.map((line, index) => (index === 0 ? label : " ".repeat(label.length)) + cut(line, width))
}

/**
 * Makes text printable, and wraps it at spaces, or inside a word that is longer than a line. Each line is made
 * printable again, because a line break can move a command for a CI service to the beginning of a line.
 */
const wrapped = (text: string, columns: number): ReadonlyArray<string> =>
  [...printable(text).matchAll(new RegExp(`(.{1,${columns}})(?: |$)|(.{${columns}})`, "gu"))].map(
    ([, line, part]) => printable(line ?? part ?? "")
  )

/**
 * Truncates text to a number of characters, with `…` at the end.
 *
 * @internal
 */
export const cut = (text: string, length: number): string => {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`
}
