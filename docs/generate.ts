/**
 * Rewrites the generated pages that are out of date: `npm run generate`. With `--check`, it writes nothing, and fails if
 * a page is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import * as ApiReport from "./ApiReport.ts"
import * as ClausesPage from "./ClausesPage.ts"
import * as ConfigSchema from "./ConfigSchema.ts"
import * as ErrorsPage from "./ErrorsPage.ts"
import * as OptionTables from "./OptionTables.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

/** A page, or a part of one, that is derived from the code. */
interface Generator {
  readonly path: URL
  /** Returns the page's new text from its present text. */
  readonly render: (text: string) => string
}

const root = new URL("../", import.meta.url)

const generators: ReadonlyArray<Generator> = [
  ...OptionTables.generators,
  ErrorsPage,
  ClausesPage,
  ...SuiteVersions.generators,
  ConfigSchema,
  ApiReport
]

const isCheck = process.argv.includes("--check")

for (const { path, render } of generators) {
  const text = existsSync(path) ? readFileSync(path, "utf8") : ""
  const rendered = render(text)
  if (rendered === text) continue
  const name = path.href.slice(root.href.length)
  if (isCheck) {
    console.error(`${name} is out of date: run 'npm run generate' and review the change`)
    process.exitCode = 1
  } else {
    writeFileSync(path, rendered)
    console.log(`wrote ${name}`)
  }
}
