/** How ports fail when their backend does not answer. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
