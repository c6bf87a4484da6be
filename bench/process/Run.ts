/**
 * Runs measurements within a process, without HTTP.
 *
 *     node bench/process/Run.ts [part of a section's name…]
 */
import { choose } from "../Options.ts"
import type { Figure } from "./Figure.ts"
import * as Growth from "./Growth.ts"
import type { Section } from "./Section.ts"
import * as Speed from "./Speed.ts"
import * as Startup from "./Startup.ts"
import * as Stores from "./Stores.ts"
import * as Table from "./Table.ts"
import * as Transfer from "./Transfer.ts"

/** All sections; together they take about four minutes. */
export const sections: ReadonlyArray<Section> = [
  ...Speed.sections,
  ...Stores.sections,
  ...Transfer.sections,
  ...Growth.sections,
  ...Startup.sections
]

const main = async (names: ReadonlyArray<string>): Promise<void> => {
  const requested = choose(sections, names)
  if (requested.length === 0) {
    console.error(`the sections are: ${sections.map(({ name }) => name).join("; ")}`)
    process.exitCode = 1
    return
  }
  const figures: Array<Figure> = []
  for (const section of requested) {
    const began = performance.now()
    figures.push(...(await section.run(console.error)))
    console.error(`${section.name} took ${Math.round((performance.now() - began) / 100) / 10} s`)
  }
  console.log(Table.render(figures))
}

if (import.meta.main) await main(process.argv.slice(2))
