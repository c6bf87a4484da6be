/** The promises of ApiKeyStore. */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
