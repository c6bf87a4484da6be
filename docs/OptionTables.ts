/**
 * Generates the tables of options in the guides. A table stands between the comments `<!-- options: NAME -->` and
 * `<!-- end -->`; flags after the name select rows, such as `<!-- options: serve --log-format -->`.
 */
import * as ServeFlags from "../adapters/cli/ServeFlags.ts"
import * as Setting from "../adapters/cli/Setting.ts"
import * as StoreFlags from "../adapters/cli/StoreFlags.ts"
import * as AnimalStoreOptions from "../adapters/embed/AnimalStoreOptions.ts"
import type { Rule } from "../core/options/Rule.ts"
import * as OptionSummaries from "./OptionSummaries.ts"

type Row = ReadonlyArray<string>

interface ProgramOption extends Rule<unknown> {
  readonly default: unknown
  readonly defaultText?: string | undefined
}

interface Table {
  readonly [name: string]: unknown
}

const summaries = OptionSummaries.read()

const summaryOf = (name: string): string => summaries.get(name) ?? ""

const render = (head: Row, rows: ReadonlyArray<Row>): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n")

const defaultOf = ({ default: value, defaultText }: ProgramOption): string => {
  if (value === undefined) return defaultText === undefined || defaultText === "none" ? "–" : defaultText
  const isPlain = typeof value !== "object" || Object.keys(value ?? {}).length === 0
  return isPlain ? `\`${JSON.stringify(value)}\`` : (defaultText ?? "")
}

/** Returns a row for each option of a table, and for each field of an option that is an object. */
const programRows = (table: Table, prefix = ""): ReadonlyArray<Row> =>
  Object.entries(table).flatMap(([name, entry]) => {
    const option = entry as ProgramOption // the entries of the tables are options
    const value = option.reasonFor(undefined).replace(/^must be /, "")
    const row = [`\`${prefix}${name}\``, value, defaultOf(option), summaryOf(name)]
    return [row, ...(Setting.isObject(entry) ? programRows(entry.fields, `${name}.`) : [])]
  })

/** Returns a row for each flag of a table. */
const flagRows = (table: Table, summary: (name: string) => string): ReadonlyArray<Row> =>
  Object.entries(table).flatMap(([name, option]) => {
    if (Setting.isObject(option)) return flagRows(option.fields, summary)
    if (!Setting.isFlag(option)) return []
    const { defaultText, flag, reader } = option
    const value = reader.placeholder === undefined ? `, \`--no-${flag}\`` : ""
    const typed = reader.placeholder === undefined ? `\`--${flag}\`` : `\`--${flag} ${reader.placeholder}\``
    const separated = "separator" in reader ? `, separated by ${reader.separator}` : ""
    const meaning = "separator" in reader ? `${summary(name)} Repeatable.` : summary(name)
    return [[`${typed}${value}`, `\`${Setting.variable(flag)}\`${separated}`, defaultText, meaning]]
  })

const serveRows = (): ReadonlyArray<Row> => [
  ...flagRows(StoreFlags.listenTable, summaryOf),
  ...flagRows(StoreFlags.storeTable, summaryOf),
  ...flagRows(ServeFlags.table, (name) => ServeFlags.summaries.get(name) ?? "")
]

const tables: { readonly [name: string]: (selected: ReadonlyArray<string>) => string } = {
  openAnimalStore: () =>
    render(["Option", "Value", "Default", "Meaning"], programRows(AnimalStoreOptions.table)),
  listen: () =>
    render(["Option", "Value", "Default", "Meaning"], programRows(AnimalStoreOptions.listenTable)),
  serve: (selected) =>
    render(
      ["Flag", "Variable", "Default", "Meaning"],
      serveRows().filter(
        ([flag = ""]) => selected.length === 0 || selected.some((name) => flag.startsWith(`\`${name}`))
      )
    )
}

/** Replaces the tables in the text of a page. */
export const renderPage = (page: string): string =>
  page.replaceAll(
    /(<!-- options: (\w+)((?: --[\w-]+)*) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_match, start: string, name: string, flags: string, end: string) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`there is no table of options named ${name}`)
      return `${start}\n${table(flags.match(/--[\w-]+/g) ?? [])}\n\n${end}`
    }
  )

/** The generators of the files that contain options. */
export const generators = [
  OptionSummaries,
  ...["embedding.md", "operating.md"].map((page) => ({
    path: new URL(page, import.meta.url),
    render: renderPage
  }))
]
