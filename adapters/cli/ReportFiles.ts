/** Writes a conformance report as files in several formats. */
import { existsSync } from "node:fs"
import { access, constants, mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Report } from "../../conformance/engine/Report.ts"
import * as Badge from "../../conformance/reports/Badge.ts"
import * as Har from "../../conformance/reports/Har.ts"
import * as Html from "../../conformance/reports/Html.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as JUnit from "../../conformance/reports/JUnit.ts"
import * as Terminal from "../../conformance/reports/Terminal.ts"
import type { Subject } from "../../conformance/subjects/Subject.ts"

const renderings = [
  ["report.json", Json.render],
  ["junit.xml", JUnit.render],
  ["report.html", Html.render],
  ["report.txt", (report: Report) => `${Terminal.render(report)}\n`],
  ["badge.svg", Badge.render],
  ["exchanges.har", Har.render]
] as const

/** Creates the directory; fails if it is not writable. */
export const prepare = async (directory: string): Promise<void> => {
  await create(directory)
  // A file fails, too: it contains no directory.
  await access(`${directory}/.`, constants.W_OK)
}

/** Creates a directory and those above it; `mkdir` with `recursive` never ends below `/proc`. */
const create = async (directory: string): Promise<void> => {
  if (existsSync(directory)) return
  await create(dirname(directory))
  await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
    // Another run may have created it meanwhile.
    if (error.code !== "EEXIST") throw error
  })
}

/** Writes all files. */
export const write = async (report: Report, subject: Subject, directory: string): Promise<void> => {
  await Promise.all(
    renderings.map(([name, render]) => writeFile(join(directory, name), render(report, subject)))
  )
}
