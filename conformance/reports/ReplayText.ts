/** Renders the outcome of a replay as text. */
import type { Replayed } from "../engine/Replay.ts"
import type { ReplayToken } from "../engine/ReplayToken.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

/** Returns a line with the outcome, then a line for each step. */
export const lines = ({ check }: ReplayToken, replayed: Replayed): ReadonlyArray<string> => {
  if (replayed.outcome === "not-replayable") return [`CANNOT ${check}: ${printable(replayed.reason)}`]
  const steps = Wording.numbered(replayed.steps).map((line) => `  ${line}`)
  if (replayed.outcome === "fixed") return [`FIXED ${check}`, ...steps]
  const { actual, expected } = replayed.violation
  return [`FAILED ${check}: expected ${printable(expected)}, got ${printable(actual)}`, ...steps]
}
