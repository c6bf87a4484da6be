/** Limits as every implementation has them (contract §8). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
