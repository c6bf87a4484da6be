import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const directory = fileURLToPath(new URL(".", import.meta.url))

/** Maximum number of lines of a TypeScript file of the suite. */
const MAX_LINES = 400

it("every TypeScript file of the suite has at most 400 lines", () => {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts")
  )
  const lengths = names.map(
    (name) => [name, readFileSync(join(directory, name), "utf8").split("\n").length - 1] as const
  )
  expect(names.length).toBeGreaterThan(100)
  expect(lengths.filter(([, lines]) => lines > MAX_LINES)).toEqual([])
})
