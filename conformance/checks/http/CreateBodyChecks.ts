/** Bodies of a creation over HTTP (contract §4.2). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
