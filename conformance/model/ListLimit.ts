/** How many animals a list shows (§8.1), and what it shows if it is cut too early (§4.1). */
import type { Parameter } from "./Request.ts"

/** The largest limit, and the one of a list without a limit. */
export const [MAX, DEFAULT] = [100, 20]

/** §8.1: at most `limit` animals, 20 without it, and never more than 100. */
export const maxOf = (limit: Parameter<number>): number =>
  limit.is === "valid" ? limit.value : limit.is === "absent" ? DEFAULT : MAX

/** Whether the animals shown are among the oldest or the newest ones, as if a limit was applied before the status. */
export const mayBeCut = (
  shown: ReadonlyArray<bigint>,
  known: ReadonlyArray<bigint>,
  max: number
): boolean => {
  const olderThan = (id: bigint) => known.filter((each) => each < id).length
  const positions = shown.map(olderThan)
  const isOldest = positions.every((position) => position < max)
  return known.length > max && (isOldest || positions.every((position) => position >= known.length - max))
}
