/** Starts the installed Chromium, for tests with web pages. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"
import { describe } from "vitest"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Path of the browser, from `ANIMAL_STORE_TEST_CHROMIUM` or the search path; `undefined` if no browser is found. */
const executable = [
  process.env.ANIMAL_STORE_TEST_CHROMIUM ?? "",
  ...(process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)))
].find((file) => file !== "" && isExecutable(file))

if (executable === undefined) console.warn("Browser tests are skipped: no Chromium is installed")

/** Starts a headless browser; the caller closes it. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable ?? "",
    // The sandbox needs privileges that containers and root do not have. The pages are our own.
    args: ["--no-sandbox", "--disable-dev-shm-usage"]
  })

/** Groups tests that need a browser; without one, they are skipped, with the reason in the title. */
export const describeInBrowser = (title: string, tests: () => void): void => {
  if (executable === undefined) describe.skip(`${title} (skipped, no Chromium is installed)`, tests)
  else describe(title, tests)
}
