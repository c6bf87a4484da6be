/** Limits of callers without a valid key. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
