/** A conformance report as files: the JSON is the truth, the others are made from it. */
import { access, constants, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Html from "../../conformance/reports/Html.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as JUnit from "../../conformance/reports/JUnit.ts"
import * as Markdown from "../../conformance/reports/Markdown.ts"
import type { Report } from "../../conformance/reports/Report.ts"

const renderings = [
  ["report.json", Json.render],
  ["junit.xml", JUnit.render],
  ["summary.md", Markdown.render],
  ["report.html", Html.render]
] as const

/** Makes the directory, or fails because that is impossible. */
export const prepare = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true })
  await access(directory, constants.W_OK)
}

/** Writes all of them and a script for each failure; answers where the script of each check is, by its id. */
export const write = async (report: Report, directory: string): Promise<ReadonlyMap<string, string>> => {
  await Promise.all(renderings.map(([name, render]) => writeFile(join(directory, name), render(report))))
  const scripts = new Map<string, string>()
  for (const { counterexample, id } of report.checks) {
    if (counterexample?.script === undefined) continue
    const path = join(directory, `${id}.sh`)
    await writeFile(path, counterexample.script, { mode: 0o755 })
    scripts.set(id, path)
  }
  return scripts
}
