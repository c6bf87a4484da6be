/** The page `conformance/kill-matrix.md`, made by the self-test of the suite: `node docs/KillMatrixPage.ts`, about half an hour. */
import { writeFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import type { Fault } from "../conformance/gallery/Fault.ts"
import { faults } from "../conformance/gallery/Faults.ts"
import * as Gate from "../conformance/gallery/Gate.ts"

export const path = new URL("conformance/kill-matrix.md", import.meta.url)

const cell = (text: string): string => text.replaceAll("|", "\\|")

/** The cells of a fault that do not depend on a run. */
export const fixedCells = ({ breaks, does, id, killedBy, where }: Fault): string =>
  `| \`${id}\` | ${where.at} | ${cell(does)} | \`${breaks}\` | \`${killedBy}\` |`

const row = ({ fault, killers, kills, seeds }: Gate.Caught): string => {
  const others = killers.filter((id) => id !== fault.killedBy)
  const also = others.length === 0 ? "–" : others.map((id) => `\`${id}\``).join(", ")
  return `${fixedCells(fault)} ${kills}/${seeds} | ${also} |`
}

const decoyRow = ({ complaints, differs, id, seeds }: Gate.Tried): string =>
  `| \`${id}\` | ${cell(differs)} | ${seeds - complaints.length}/${seeds} |`

export const render = ({ caught, tried }: Gate.GateResult): string =>
  [
    "# The kill matrix",
    "",
    "The suite is tested with backends that are wrong in one way each. A fault counts as caught when its check fails and",
    "reports the expected words; the last column lists the other checks that fail. The second table lists correct servers that",
    "differ from ours; they must pass at level spec, or at level design where stated.",
    "",
    "| Fault | At | Behaviour | Breaks | Caught by | Seeds | Also fails |",
    "|---|---|---|---|---|---|---|",
    ...caught.map(row),
    "",
    "| Correct server | How it differs | Seeds passed |",
    "|---|---|---|",
    ...tried.map(decoyRow),
    "",
    "<!-- made by docs/KillMatrixPage.ts -->",
    ""
  ].join("\n")

if (import.meta.main) {
  const result = await Effect.runPromise(
    Gate.run({
      faultSeeds: 20,
      decoySeeds: 50,
      referenceSeeds: 50,
      onProgress: (what) => process.stderr.write(`${what}\n`)
    })
  )
  writeFileSync(path, render(result))
  const verdict = Gate.render(result).split("\n").at(-1)
  console.log(`${verdict}; ${faults.length} rows`)
  if (!result.passed) {
    console.log(Gate.render(result))
    process.exitCode = 1
  }
}
