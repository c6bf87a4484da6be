/** Backends with a fault in: Error. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
