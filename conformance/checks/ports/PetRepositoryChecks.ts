/** The promises of PetRepository. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
