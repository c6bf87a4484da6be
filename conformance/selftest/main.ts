/** `npm run self-test`: prints which checks catch which faulty backend, and what the suite reports about correct ones. */
import { parseArgs } from "node:util"
import * as KillMatrix from "./KillMatrix.ts"

const HELP = `npm run self-test -- [--seeds N] [--only ID]…

  --seeds N  number of random seeds for each backend; 1 by default
  --only ID  only these faulty backends and correct servers: ids, or patterns such as list.*

Exits with 1 if the suite misses a fault or rejects a correct server.`

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1" },
    only: { type: "string", multiple: true },
    help: { type: "boolean", default: false }
  }
})

if (values.help) console.log(HELP)
else {
  const rows = await KillMatrix.run({
    seeds: Number(values.seeds),
    only: values.only ?? [],
    onRow: ({ alsoFails, id, problems }, done, total) => {
      const others = alsoFails.length === 0 ? "" : `, also caught by ${alsoFails.join(", ")}`
      const text = problems.length === 0 ? `ok     ${id}${others}` : `WRONG  ${id}: ${problems.join("; ")}`
      console.log(`${done}/${total} ${text}`)
    }
  })
  const wrong = rows.filter(({ problems }) => problems.length > 0)
  console.log(`${rows.length - wrong.length} of ${rows.length} backends are judged correctly`)
  process.exitCode = wrong.length === 0 && rows.length > 0 ? 0 : 1
}
