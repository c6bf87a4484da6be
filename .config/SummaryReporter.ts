/** Ends a run of Vitest with a table of its files, the skipped groups of tests, and one line of totals. */
import type { Reporter, SerializedError, TestModule, TestSuite } from "vitest/node"

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts the tests of a file; a file that fails outside its tests counts as one failed test. */
const countsOf = (file: TestModule): Counts => {
  const states = [...file.children.allTests()].map((test) => test.result().state)
  const count = (state: string): number => states.filter((other) => other === state).length
  const failed = count("failed")
  return {
    passed: count("passed"),
    failed: failed === 0 && !file.ok() ? 1 : failed,
    skipped: count("skipped")
  }
}

const isSkipped = (suite: TestSuite): boolean =>
  [...suite.children.allTests()].every((test) => test.result().state === "skipped")

/** Returns the titles of the groups that were skipped; a title names the reason. */
const skippedGroups = (files: ReadonlyArray<TestModule>): ReadonlyArray<string> =>
  files.flatMap((file) =>
    [...file.children.suites()].filter(isSkipped).map((suite) => `${file.relativeModuleId}: ${suite.name}`)
  )

const sum = (counts: ReadonlyArray<Counts>, key: keyof Counts): number =>
  counts.reduce((total, each) => total + each[key], 0)

const row = (file: TestModule): string => {
  const { failed, passed, skipped } = countsOf(file)
  const seconds = (file.diagnostic().duration / 1000).toFixed(0)
  const numbers = [passed, failed, skipped, seconds].map((cell) => String(cell).padStart(8)).join("")
  return `${failed > 0 ? "FAILED" : "ok    "}${numbers}  ${file.relativeModuleId}`
}

/** A reporter whose last line is `N passed, N failed, N skipped`; `hasTable` adds a row for each file. */
export class SummaryReporter implements Reporter {
  readonly #hasTable: boolean

  constructor({ hasTable = false }: { readonly hasTable?: boolean } = {}) {
    this.#hasTable = hasTable
  }

  onTestRunEnd(files: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>): void {
    const counts = files.map(countsOf)
    const lines = [
      ...(this.#hasTable ? ["        passed  failed skipped seconds  file", ...files.map(row)] : []),
      ...skippedGroups(files).map((title) => `skipped: ${title}`),
      `${sum(counts, "passed")} passed, ${sum(counts, "failed") + errors.length} failed, ${sum(counts, "skipped")} skipped`
    ]
    // Runs after the default reporter, which prints its own summary when the run ends.
    process.once("exit", () => console.log(`\n${lines.join("\n")}`))
  }
}
