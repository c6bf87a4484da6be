/**
 * Generates `adapters/cli/OptionSummaries.json`, from which `serve --help` describes the options of programs: the first
 * sentence of the docstring of each option.
 */
import { readFileSync } from "node:fs"

/** The files that declare options. A later file overrides the docstrings of earlier ones. */
const sources = [
  "core/service/ServiceOptions.ts",
  "adapters/storage/StorageOptions.ts",
  "adapters/sql/SqlOptions.ts",
  "adapters/http-fetch/FetchHandlerOptions.ts",
  "adapters/http-node/NodeServerOptions.ts",
  "adapters/embed/Database.ts",
  "adapters/embed/ObservationOptions.ts",
  "adapters/embed/AnimalStoreOptions.ts"
]

const textOf = (comment: string): string => comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim()

const firstSentence = (text: string): string => /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text

const summariesIn = (source: string): ReadonlyArray<readonly [name: string, summary: string]> =>
  [...source.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}readonly (\w+)\??:/gm)].map(
    ([, comment = "", name = ""]) => [name, firstSentence(textOf(comment))]
  )

/** Returns what each option does. */
export const read = (): ReadonlyMap<string, string> =>
  new Map(
    sources.flatMap((path) => summariesIn(readFileSync(new URL(`../${path}`, import.meta.url), "utf8")))
  )

export const path = new URL("../adapters/cli/OptionSummaries.json", import.meta.url)

export const render = (): string => `${JSON.stringify(Object.fromEntries(read()), undefined, 2)}\n`
