/** What every answer of a run must be, whatever it was sent for. */
import type { AmbientCheck } from "./Ambient.ts"

export const checks: ReadonlyArray<AmbientCheck> = []
