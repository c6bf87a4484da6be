/**
 * Extracts the programs from documentation pages, and saves them with their imports redirected from the package to its
 * sources.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { read, root } from "./Pages.fixture.ts"

const sources: { readonly [entry: string]: string } = {
  "animal-store": "adapters/embed/index.ts",
  "animal-store/core": "core/index.ts",
  "animal-store/conformance": "conformance/index.ts",
  "animal-store/conformance/vitest": "conformance/runners/Vitest.ts",
  "animal-store/http-fetch": "adapters/http-fetch/index.ts",
  "animal-store/http-node": "adapters/http-node/index.ts",
  "animal-store/memory": "adapters/memory/index.ts"
}

/** Returns all programs on a page. */
export const programsOf = (page: string): ReadonlyArray<string> =>
  [...read(page).matchAll(/^```(?:ts|js)\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code)

/** Returns the page's program that contains `text`; throws unless exactly one does. */
export const programOf = (page: string, text: string): string => {
  const found = programsOf(page).filter((code) => code.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} programs in ${page} contain ${text}`)
  return found[0] ?? ""
}

/** Saves a program to a new directory, which is removed after the test, and returns its path. */
export const save = (name: string, program: string): string => {
  // Inside the repository, so that Node resolves packages.
  const directory = fs.mkdtempSync(path.join(root, "docs/.recipes-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const file = path.join(directory, name)
  fs.writeFileSync(
    file,
    program.replaceAll(/from "(animal-store[^"]*)"/g, (_text, entry: string) => {
      const source = sources[entry]
      if (source === undefined) throw new Error(`${entry} is not an entry point of the package`)
      return `from ${JSON.stringify(path.join(root, source))}`
    })
  )
  return file
}
