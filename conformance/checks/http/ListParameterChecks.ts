/** Parameters, order and pages of a list over HTTP (contract §4.1, §8.1). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
