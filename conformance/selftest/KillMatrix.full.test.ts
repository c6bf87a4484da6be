import { mkdirSync, writeFileSync } from "node:fs"
import { expect, it } from "vitest"
import * as KillMatrix from "./KillMatrix.ts"

const SEEDS = 10

const HOUR_MS = 3_600_000

it(
  "the suite rejects every fault and accepts every correct backend with every seed",
  async () => {
    const rows = await KillMatrix.run({
      seeds: SEEDS,
      onRow: ({ id, problems }, done, total) => {
        if (done % 50 === 0 || problems.length > 0)
          console.log(`${done}/${total}: ${id} ${problems.join("; ")}`)
      }
    })
    mkdirSync("data", { recursive: true })
    writeFileSync("data/kill-matrix.md", KillMatrix.render(rows, SEEDS))
    expect(rows.filter(({ problems }) => problems.length > 0)).toEqual([])
  },
  HOUR_MS
)
