/** Backends with a fault in: Create. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
