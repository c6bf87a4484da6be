/**
 * Tests that the suite accepts correct servers with many seeds: `node docs/LegalSeeds.ts [SEEDS] [decoys | foreign]`.
 * It runs the decoys of the gallery in this process and the foreign servers in other processes, and prints each false
 * alarm.
 */
import * as Effect from "effect/Effect"
import * as Foreign from "../conformance/foreign/Foreign.fixture.ts"
import { decoys } from "../conformance/gallery/Decoys.ts"
import * as SelfTest from "../conformance/gallery/SelfTest.ts"

const [count = "3", part] = process.argv.slice(2)
const seeds = Array.from({ length: Number(count) }, (_, index) => index + 1)
const startedAt = performance.now()
let runs = 0
let alarms = 0

const record = (name: string, seed: number, complaints: ReadonlyArray<string>): void => {
  runs++
  if (complaints.length === 0) return
  alarms++
  console.log(`FALSE ALARM  ${name}, seed ${seed}: ${complaints.join("; ")}`)
}

if (part !== "decoys") {
  for (const language of [Foreign.python, Foreign.java]) {
    if (!Foreign.isInstalled(language)) {
      console.log(`skipped: ${language.command} is not installed`)
      continue
    }
    const variations = language.variations.filter(({ name }) => name !== "ipv6")
    for (const seed of seeds) {
      const variation = variations[seed % variations.length]
      if (variation === undefined) continue
      const { code, output } = await Foreign.run(language, variation, seed)
      const failed = output
        .split("\n")
        .filter((line) => /^\s*(✗|\?|!|FAIL|INCONCLUSIVE|fail|incon)/.test(line))
      const lines = failed.length > 0 ? failed : [output.slice(-2_000)]
      record(`${language.command} ${variation.name}`, seed, code === 0 ? [] : [`exit code ${code}`, ...lines])
    }
  }
}
if (part !== "foreign") {
  for (const seed of seeds) {
    for (const decoy of decoys) {
      record(decoy.id, seed, await Effect.runPromise(SelfTest.complaints(decoy, seed)))
    }
    console.log(
      `${decoys.length} decoys with seed ${seed}, ${Math.round((performance.now() - startedAt) / 1_000)} s`
    )
  }
}
const seconds = Math.round((performance.now() - startedAt) / 1_000)
console.log(`${alarms} false alarms in ${runs} runs with ${seeds.length} seeds, ${seconds} s`)
process.exitCode = alarms === 0 && runs > 0 ? 0 : 1
