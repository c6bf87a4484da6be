/** Bans (contract §8.4). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
