/** `animal-store conformance self-test`: the suite against backends that are known to be right or wrong. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Gate from "../../conformance/gallery/Gate.ts"
import * as Ended from "./Ended.ts"
import * as Output from "./Output.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"

/** The command; it fails when a fault gets through or a legal server is called wrong. */
export const selfTest = Command.make(
  "self-test",
  {
    seeds: Setting.make(
      "seeds",
      "N",
      "How many random seeds to try each with; default 1.",
      Setting.between(1, 1_000)
    ).pipe(Flag.withDefault(1)),
    only: Setting.repeated(
      "only",
      "ID",
      "Only these faulty backends and legal servers: ids, or patterns such as list.*.",
      Setting.text
    )
  },
  Effect.fn("conformance self-test")(function* ({ only, seeds }) {
    const line = StatusLine.make()
    const result = yield* Effect.ensuring(
      Gate.run({ faultSeeds: seeds, decoySeeds: seeds, referenceSeeds: seeds, only, onProgress: line.show }),
      line.end
    )
    yield* Output.print(Gate.render(result))
    yield* Ended.withCode(result.passed ? 0 : 1)
  })
).pipe(Command.withDescription("Prove the suite itself: print which check catches which faulty backend."))
