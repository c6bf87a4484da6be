/** Limits as this design answers the gaps of contract §8. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
