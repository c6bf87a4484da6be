/** The end of GET /pets/{petId} (contract §4.3, §9.3). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
