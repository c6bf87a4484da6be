/** Backends with a fault in: List. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
