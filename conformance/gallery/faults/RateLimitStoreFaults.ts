/** Backends with a fault in: RateLimitStore. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
