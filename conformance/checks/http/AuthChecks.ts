/** Who may ask (contract §5). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
