/** Renders the outcome of a replay as text. */
import type { Replayed } from "../engine/Replay.ts"
import type { ReplayToken } from "../engine/ReplayToken.ts"
import { printable } from "../http/Printable.ts"
import * as Wording from "./Wording.ts"

const words = { fixed: "FIXED", failed: "FAILED", "not-replayable": "CANNOT" } as const

/** Returns a line with the outcome, then a line for each step. */
export const lines = (
  { check }: ReplayToken,
  { outcome, reason, steps }: Replayed
): ReadonlyArray<string> => [
  `${words[outcome]} ${check}${reason === undefined ? "" : `: ${printable(reason)}`}`,
  ...Wording.numbered(steps).map((line) => `  ${line}`)
]
