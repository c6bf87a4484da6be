/** `animal-store conformance self-test`: runs the suite against backends that are known to be correct or faulty. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Gate from "../../conformance/gallery/Gate.ts"
import * as CommandExit from "./CommandExit.ts"
import * as Output from "./Output.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"

/** Runs the self-test; exits with code 1 if the suite misses a fault or rejects a correct server. */
export const selfTest = Command.make(
  "self-test",
  {
    seeds: Setting.withDefault(
      "seeds",
      "N",
      "Number of random seeds for each backend.",
      Setting.between(1, 1_000),
      "1"
    ),
    only: Setting.repeated(
      "only",
      "ID",
      "Run only these faulty backends and correct servers: ids, or patterns such as list.*.",
      Setting.text
    )
  },
  Effect.fn("conformance self-test")(function* ({ only, seeds }) {
    const line = yield* StatusLine.make
    const result = yield* Effect.ensuring(
      Gate.run({ faultSeeds: seeds, decoySeeds: seeds, referenceSeeds: seeds, only, onProgress: line.show }),
      line.end
    )
    yield* Output.print(Gate.render(result))
    yield* CommandExit.withCode(result.passed ? 0 : 1)
  })
).pipe(Command.withDescription("Test the suite itself: print which check detects which faulty backend."))
