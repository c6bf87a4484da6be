/** Renders a report as GitHub-flavored Markdown, for the summary of a CI job or a comment. */
import type { Report } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as Document from "./Document.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a document whose structure no text of the subject can change. */
export const render = (report: Report): string =>
  [
    `## ${prose(Wording.verdict(report))}`,
    ...Document.head(report).map(block),
    ...Document.sections(report).flatMap(section)
  ]
    .map((each) => `${each}\n`)
    .join("\n")

const section = ({ blocks, check, isOpen, title }: Document.Section): ReadonlyArray<string> => {
  const heading = check === undefined ? title : `${title}: ${code(check)}`
  const content = blocks.map(block)
  return isOpen
    ? [`### ${heading}`, ...content]
    : [`<details><summary>${heading}</summary>`, ...content, "</details>"]
}

const block = (given: Document.Block): string => {
  switch (given.is) {
    case "text":
      return prose(given.text)
    case "list":
      // An empty item gets a space, because a hyphen alone would not be an item.
      return given.items.map((item) => `- ${prose(item) || "&#32;"}`).join("\n")
    case "code":
      return fenced(given.language, given.lines)
    case "table":
      return [given.headings, given.headings.map(() => "---"), ...given.rows.map((row) => row.map(cell))]
        .map((cells) => `| ${cells.join(" | ")} |`)
        .join("\n")
  }
}

const cell = (given: Document.Cell): string => {
  if (typeof given === "string") return prose(given)
  return "status" in given ? given.status : given.ids.map(code).join(", ")
}

/** Puts printable lines unchanged into a fence that is longer than any run of backticks in them. */
const fenced = (language: string, lines: ReadonlyArray<string>): string => {
  const runs = lines.flatMap((line) => line.match(/`+/g) ?? [])
  const fence = "`".repeat(Math.max(2, ...runs.map((run) => run.length)) + 1)
  return [fence + language, ...lines, fence].join("\n")
}

/**
 * Characters with a meaning in Markdown, in its tables, in HTML or in automatic links of GitHub: some of them anywhere,
 * others only where a line or a link can begin.
 */
const special = /[!"#$%&'*+<=>@[\\\]^_`{|}~]|:(?=\/)|(?<=www)\.|^[- ]|(?<=^\d+)[.)]/gi

/**
 * Escapes text so that it is shown literally anywhere.
 *
 * @internal
 */
export const prose = (text: string): string =>
  printable(text).replace(special, (character) => `&#${character.charCodeAt(0)};`)

/** Escapes text, and formats it as code. */
const code = (text: string): string => `<code>${prose(text)}</code>`
