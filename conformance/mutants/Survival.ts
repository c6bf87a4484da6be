/** Explains why the suite misses a mutant: how its condition makes the change hard to detect. */
import type { Mutant } from "./Mutant.ts"

const TIME = "Only checks that move the clock send requests at such a time, and only with some values."

const SMALL_KEY = "The few requests of this key are needed for the laws about limits and bans."

/** Why few requests that a check can judge meet a condition, by the id of the condition. */
const reasons: ReadonlyMap<string, string> = new Map([
  [
    "for the first request of a key",
    "Each key has one first request in a run, and so one kind of value there."
  ],
  ["after a 429", "Most requests after a 429 are denied too, and their responses show no animal."],
  ["for a key that is banned", SMALL_KEY],
  ["for a key with a small limit", SMALL_KEY],
  [
    "without a valid key",
    "The contract gives such requests no limit, so few checks look at more than their status."
  ],
  ["in the first second of a minute", TIME],
  ["in the last second of a minute", TIME],
  ["in the second half of a second", TIME],
  ["in the last minute of a day", TIME],
  ["in the first minute of a day", TIME]
])

/** Returns why no check detected the mutant; `isReached` is whether any request of the suite met its condition. */
export const reasonFor = ({ condition }: Mutant, isReached: boolean): string =>
  reasons.get(condition.id) ??
  (isReached ? "No check compares this value with one that it must equal." : "No check sends such a request.")

/** The conditions that have a reason of their own. */
export const explained: ReadonlyArray<string> = [...reasons.keys()]
