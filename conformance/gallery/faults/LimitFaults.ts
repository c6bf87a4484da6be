/** Backends with a fault in: Limit. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
