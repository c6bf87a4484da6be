/** Backends with a fault in: Get. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
