/** The page `errors.md`, made from the catalogue: `node docs/ErrorsPage.ts` writes it. */
import { writeFileSync } from "node:fs"
import { catalogue, codes } from "../core/errors/ErrorCatalogue.ts"

export const path = new URL("errors.md", import.meta.url)

export const render = (): string => {
  const rows = codes.map((code) => {
    const { clause, meaning, retryable, status } = catalogue[code]
    return `| \`${code}\` | ${status} | ${meaning} | ${clause === "design" ? "–" : clause} | ${retryable ? "yes" : "no"} |`
  })
  return [
    "# Errors",
    "",
    'Every error has the body `{"code","message","status"}`. These are all the values of `code`; the set only grows.',
    "The `message` of a response can be more specific than the meaning here: it names the field and the reason.",
    "",
    "| `code` | Status | Meaning | § of the contract | The same request can succeed later |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    "<!-- made by docs/ErrorsPage.ts -->",
    ""
  ].join("\n")
}

if (import.meta.main) writeFileSync(path, render())
