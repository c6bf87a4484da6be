/** Paths, methods and headers. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
