/** Installs packages that have their own directory and lock file, for tests that need them. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe } from "vitest"
import { root } from "./Pages.fixture.ts"

/**
 * Installs the packages of a directory if they are not there. Returns the reason if that fails, for example without a
 * network. Several processes may call this at once: each installs in a directory of its own, and the first one wins.
 */
const install = (directory: string): string | undefined => {
  const target = path.join(directory, "node_modules")
  if (fs.existsSync(target)) return undefined
  // In the same file system, so that the installed packages can be renamed.
  fs.mkdirSync(path.join(root, "data"), { recursive: true })
  const work = fs.mkdtempSync(path.join(root, "data/packages-"))
  try {
    for (const file of ["package.json", "package-lock.json"]) {
      fs.copyFileSync(path.join(directory, file), path.join(work, file))
    }
    const parameters = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    const { error, status, stderr } = spawnSync("npm", parameters, { cwd: work, encoding: "utf8" })
    if (status !== 0) return `npm ci fails: ${error?.message ?? stderr.trim()}`
    fs.renameSync(path.join(work, "node_modules"), target)
    return undefined
  } catch (error) {
    if (fs.existsSync(target)) return undefined
    throw error
  } finally {
    fs.rmSync(work, { recursive: true, force: true })
  }
}

/** Describes tests that need the packages of a directory, such as `docs/clients`, and installs the packages. */
export const describeInstalled = (directory: string, title: string, tests: () => void): void => {
  const problem = install(path.join(root, directory))
  if (problem === undefined) return void describe(title, tests)
  console.warn(`${title}: skipped, because ${problem}`)
  describe.skip(`${title} (skipped, because ${problem})`, tests)
}
