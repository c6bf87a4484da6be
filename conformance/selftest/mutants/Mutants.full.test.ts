import { mkdirSync, writeFileSync } from "node:fs"
import { expect, it } from "vitest"
import * as Campaign from "./Campaign.ts"
import { sample } from "./Mutants.ts"
import * as Score from "./Score.ts"

const [SAMPLE, SEED] = [600, 2]

const HOUR_MS = 3_600_000

it(
  "the suite rejects nearly all mutants of a sample that break the contract, and none that a rule declares legal",
  async () => {
    const scored = await Campaign.run({
      mutants: sample(SAMPLE, SEED),
      seed: SEED,
      onResult: ({ id }, done) => {
        if (done % 50 === 0) console.log(`${done}/${SAMPLE}: ${id}`)
      }
    })
    mkdirSync("data", { recursive: true })
    writeFileSync("data/mutants.md", Campaign.render(scored))
    const score = Score.of(scored)
    expect(score).toMatchObject({ tried: SAMPLE, disputed: 0 })
    // 97.7 % were rejected when the sample was drawn; the others are listed in the file.
    expect(score.open + score.undecided).toBeLessThanOrEqual(0.03 * Score.faulty(score))
  },
  HOUR_MS
)
