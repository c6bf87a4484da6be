/** Backends with a fault in: Ban. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
