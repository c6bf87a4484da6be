/** Single animals over HTTP (contract §4.3). */
import type { Check } from "../Check.ts"

export const checks: ReadonlyArray<Check> = []
