/** Creates directories for the files of a test. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { onTestFinished } from "vitest"

/** Creates a directory that is deleted after the current test. */
export const create = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}
