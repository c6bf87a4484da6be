/** Renders the outcome of a replay as text. */
import type { Replayed } from "../engine/Replay.ts"
import type { ReplayToken } from "../engine/ReplayToken.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

/** Returns a line with the outcome, then a line for each step. */
export const lines = (token: ReplayToken, replayed: Replayed): ReadonlyArray<string> => {
  if (replayed.outcome === "not-replayable") return [`CANNOT ${token.check}: ${printable(replayed.reason)}`]
  const { failure, trial } = replayed.evaluation
  const steps = trial.steps.map((step, index) => `  ${index + 1}. ${Wording.step(step)}`)
  return failure === undefined
    ? [`FIXED ${token.check}`, ...steps]
    : [`FAILED ${token.check}: ${printable(failure.message)}`, ...steps]
}
