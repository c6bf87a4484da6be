/** Judges the storage ports of a target. */
import * as Effect from "effect/Effect"
import type { Finding } from "../clauses/Finding.ts"
import * as CaseText from "./CaseText.ts"
import { keys } from "./KeyPort.ts"
import { limits } from "./LimitPort.ts"
import { pets } from "./PetPort.ts"
import type { PortTarget } from "./PortTarget.ts"
import * as Suite from "./Suite.ts"

const suites = [Suite.make(pets), Suite.make(limits), Suite.make(keys)]

/** Runs the cases of every port of the target. */
export const run = (target: PortTarget, options: Suite.Options): Effect.Effect<Suite.PortResults> =>
  Effect.map(
    Effect.forEach(suites, (suite) => suite.run(target, options)),
    (all) => ({
      decided: new Map(all.flatMap(({ decided }) => [...decided])),
      findings: all.flatMap(({ findings }) => findings).toSorted((a, b) => a.steps.length - b.steps.length),
      lacking: new Map(all.flatMap(({ lacking }) => [...lacking])),
      undecided: new Map(all.flatMap(({ undecided }) => [...undecided]))
    })
  )

/** Returns the clauses that the ports of a target promise. */
export const clausesOf = (target: PortTarget): ReadonlySet<string> =>
  new Set(suites.flatMap((suite) => suite.clausesOf(target)))

/** Runs the case of a finding again; returns a finding if it still violates a clause. */
export const replay = (
  target: PortTarget,
  text: string
): Effect.Effect<Finding | undefined, CaseText.NotACase> =>
  Effect.flatMap(Effect.fromResult(CaseText.parse(text)), ({ port, value }) => {
    const suite = suites.find(({ name }) => name === port)
    return suite === undefined
      ? Effect.fail(new CaseText.NotACase({ reason: `there is no port ${port}` }))
      : suite.replay(target, value)
  })
