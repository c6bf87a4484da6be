/** Animals made and read at the same time. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
