/** `npm run simulate`: simulates many nodes on shared stores in virtual time; `--help` lists the options. */
import { readFileSync, writeFileSync } from "node:fs"
import { InvalidOptions } from "../Options.ts"
import { wholeThousands } from "../Thousands.ts"
import * as Options from "./Options.ts"
import * as Report from "./Report.ts"
import { scenarios } from "./Scenarios.ts"
import type { Settings } from "./Settings.ts"
import * as Simulation from "./Simulation.ts"

const PAGE = new URL("../../docs/scaling.md", import.meta.url)

/** Runs a simulation; prints its speed to standard error, because the speed is not part of the report. */
const run = (settings: Settings): Simulation.Report => {
  const began = performance.now()
  const { events, report } = Simulation.run(settings)
  const seconds = (performance.now() - began) / 1_000
  console.error(
    `${wholeThousands(events)} events in ${seconds.toFixed(1)} s, ${wholeThousands(events / seconds)} per second`
  )
  // If limits use the nodes' clocks, over-admissions are expected: such a run demonstrates them.
  if (settings.clock === "store" && !Report.isValid(report)) process.exitCode = 1
  return report
}

const main = (task: Options.Task): void => {
  if (task.kind === "one") {
    const report = run(task.settings)
    console.log(task.isJson ? Report.json(report) : Report.text(report))
    return
  }
  const results: Array<Report.Result> = []
  for (const scenario of scenarios.filter(({ name }) => task.names.includes(name))) {
    console.log(`${scenario.name}: ${scenario.shows}\nnpm run simulate -- ${scenario.flags}\n`)
    const result = { scenario, report: run(Options.settingsOf(scenario.flags)) }
    console.log(`${Report.text(result.report)}\n`)
    results.push(result)
  }
  if (task.isWritten)
    writeFileSync(PAGE, Report.insertTable(readFileSync(PAGE, "utf8"), Report.table(results)))
}

try {
  const task = Options.parse(process.argv.slice(2))
  if (task === undefined) console.log(Options.help)
  else main(task)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = error instanceof InvalidOptions ? 2 : 1
}
